package e2e

import (
	"fmt"
	"testing"
)

// The catalogue follows what is typed, says how much it found, and keeps the
// focus and the place.
func TestCatalogueInABrowser(t *testing.T) {
	t.Parallel()
	n := startNode(t, onDatabase(t, newDatabase(t, shared)))
	w := &visitor{tab: newTab(t, n.url)}
	w.signUp("Harbor Coffee", "mara@example.com")
	w.open(w.home + "/sources/new")
	w.await("the whole catalogue", `document.querySelectorAll('#catalogue .kinds a').length > 40`)
	search := func(text string) {
		t.Helper()
		eval[bool](w.tab, fmt.Sprintf(`(() => {
			const field = document.querySelector('#find-kind [name=q]');
			field.focus();
			field.value = %q;
			return field.dispatchEvent(new Event('input', {bubbles: true}));
		})()`, text))
	}
	search("whatsapp")
	w.awaitText("2 kinds found.")
	w.await("Meta and the focus", `!!document.querySelector('.kinds a[href$="?kind=meta"]') && document.activeElement.name === 'q'`)
	search("nobody knows it")
	w.awaitText("This sender is not in the catalogue")
	search("")
	w.await("all again", `document.querySelectorAll('#catalogue .kinds a').length > 40`)
	search("stripe")
	w.awaitText("1 kind found.")
	w.press("Stripe HMAC, time and body")
	w.await("the form", `document.querySelector('#source-form [name=kind]')?.value === 'stripe'`)
}
