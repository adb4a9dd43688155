package e2e

import (
	"fmt"
	"net/url"
	"testing"

	"github.com/chromedp/cdproto/emulation"
)

// What an account is set up with is exported, looked at and imported in another
// account, and a second time there is nothing to do. With and without scripts.
func TestConfiguration(t *testing.T) {
	t.Parallel()
	for name, scripts := range map[string]bool{"with scripts": true, "without scripts": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := startNode(t, onDatabase(t, newDatabase(t, shared)))
			w := &visitor{tab: newTab(t, n.url)}
			call(w.tab, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !scripts})
			w.signUp("Harbor Coffee", "mara@example.com")
			w.open(w.home + "/event-types/-new")
			w.fill("[name=name]", "order.created")
			eval[bool](w.tab, `(document.querySelector("#event-type button[type=submit]").click(), true)`)
			w.done("Event type declared")
			file := w.exported()
			w.opensAnother("Pier Tea", "/a/pier-tea")
			w.imports(file)
			if scripts {
				w.inspect(w.home + "/settings/configuration")
			}
			w.hasNothingToImport(file)
		})
	}
}

// opensAnother opens an account beside the one that there is.
func (w *visitor) opensAnother(name, home string) {
	w.t.Helper()
	w.open("/accounts/new")
	w.fill("[name=name]", name)
	eval[bool](w.tab, `(document.querySelector("main form button[type=submit]").click(), true)`)
	w.await("the new account", fmt.Sprintf(`location.pathname === %q`, home))
	w.home = home
}

// exported is the file that the page's button leads w.
func (w *visitor) exported() string {
	w.t.Helper()
	w.open(w.home + "/settings/configuration")
	return eval[string](w.tab, `(() => { const r = new XMLHttpRequest(); r.open("GET", document.querySelector("#export a[download]").href, false); r.send(); return r.responseText })()`)
}

func (w *visitor) preview(file string) {
	w.t.Helper()
	w.open(w.home + "/settings/configuration")
	w.fill("#pasted", file)
	w.press("Preview")
}

func (w *visitor) imports(file string) {
	w.t.Helper()
	w.preview(file)
	w.awaitText("1 created, 0 changed, 0 unchanged, 0 refused.")
	w.await("no type yet", `!document.querySelector('#report a.cell')`)
	eval[bool](w.tab, `(document.querySelector('#apply button[type=submit]').click(), true)`)
	w.awaitText("Imported.")
	w.await("a link to the type", fmt.Sprintf(`document.querySelector('#report a.cell').pathname === %q`, w.home+"/event-types/"+url.PathEscape("order.created")))
}

func (w *visitor) hasNothingToImport(file string) {
	w.t.Helper()
	w.preview(file)
	w.awaitText("Nothing would be changed.")
	w.await("nothing to apply", `!document.querySelector('#apply')`)
}
