package e2e

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// mostTabs is how often Tab may have to be pressed to get somewhere on a page.
const mostTabs = 150

// focus tells what has the focus, for who reads that it is elsewhere.
const focus = `(() => { const e = document.activeElement; return e ? e.tagName + '#' + e.id + ' ' + (e.innerText || e.name || '').slice(0, 60) : 'nothing' })()`

// tabTo presses Tab until what a selector and a text name has the focus, and
// checks that it can be seen there: it is on the screen, with a ring around it or
// around what it labels.
func (b *tab) tabTo(selector, text string) {
	b.t.Helper()
	there := fmt.Sprintf(`(() => {
		const e = document.activeElement;
		const said = (e.innerText || e.getAttribute('aria-label') || '').trim().replace(/\s+/g, ' ');
		return e.matches(%q) && said.startsWith(%q);
	})()`, selector, text)
	for range mostTabs {
		if eval[bool](b, there) {
			b.focusShows()
			return
		}
		b.key(kb.Tab)
	}
	b.t.Fatalf("Tab does not lead to %s %q, but at last to %s, at %s", selector, text, eval[string](b, focus), b.where())
}

// focusShows checks that what has the focus can be seen to have it.
func (b *tab) focusShows() {
	b.t.Helper()
	b.await("the focus is seen at "+eval[string](b, focus), `(() => {
		const e = document.activeElement, box = e.getBoundingClientRect();
		const ringed = (e) => { const s = getComputedStyle(e); return s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) > 0 || s.boxShadow !== 'none' };
		const onScreen = box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth;
		return e.matches(':focus-visible') && onScreen && (ringed(e) || !!e.parentElement && ringed(e.parentElement));
	})()`)
}

// write types a text where the focus is, over what is there.
func (b *tab) write(text string) {
	b.t.Helper()
	eval[bool](b, `(document.activeElement.value = '', true)`) // the browser is told of the letter apart from the key
	for _, letter := range text {
		b.key(string(letter))
	}
	b.await("it is typed", fmt.Sprintf(`document.activeElement.value === %q`, text))
}

// enter fills fields one after the other, in the order in which Tab comes to them.
func (b *tab) enter(fields ...[2]string) {
	b.t.Helper()
	for _, f := range fields {
		b.tabTo(f[0], "")
		b.write(f[1])
	}
}

// goes presses the two keys that go to a section.
func (b *tab) goes(key, path string) {
	b.t.Helper()
	waitFor(b.t, patience, "the page "+path, func() bool {
		there, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool](fmt.Sprintf(`location.pathname.endsWith(%q) && document.readyState === 'complete'`, path)))
		if err == nil && !there {
			b.key("g", key)
		}
		return err == nil && there
	})
}

// within waits until the focus is in the open dialog, whose background is out of
// its reach.
func (b *tab) within(question string) {
	b.t.Helper()
	b.awaitText(question)
	b.await("the focus is in the dialog", `!!document.querySelector('dialog[open]')?.contains(document.activeElement)`)
}

// What people do first and what they do when something is stuck, without a mouse:
// sign up, a source, an endpoint, an event that arrives, redelivering it, rotating
// the secret, a key, and reclaiming a claim. Addresses are typed in for the first
// page alone.
func TestWalkByKeyboard(t *testing.T) {
	t.Parallel()
	n := startNode(t, onDatabase(t, newDatabase(t, shared)))
	w := &visitor{tab: newTab(t, n.url), receiver: newReceiver(t, func() time.Duration { return 0 })}
	w.look(look{1440, "light"})
	w.keysSignUp()
	w.keysSource()
	w.keysEndpoint()
	w.keysRedeliver()
	w.keysRotate()
	w.keysReclaim(n, w.keysAPIKey())
}

func (w *visitor) keysSignUp() {
	w.t.Helper()
	w.open("/")
	w.await("the form", `location.pathname === '/signup' && document.readyState === 'complete'`)
	w.enter([2]string{"#name", "Mara Lindqvist"}, [2]string{"#email", "mara@example.com"}, [2]string{"#password", passphrase}, [2]string{"#account", "Harbor Coffee"})
	w.key(kb.Enter)
	w.await("the overview", `location.pathname.startsWith('/a/') && document.readyState === 'complete'`)
	w.home = w.path()
	w.key(kb.Tab)
	w.tabTo("a.skip", "Skip to content")
	w.key(kb.Enter)
	w.await("the content has the focus", `document.activeElement.id === 'main'`)
}

func (w *visitor) keysSource() {
	w.t.Helper()
	w.goes("s", "/sources")
	w.tabTo("a[href$='/sources/new']", "")
	w.key(kb.Enter)
	w.await("the catalogue", `location.pathname.endsWith('/sources/new') && document.readyState === 'complete'`)
	w.tabTo("a[href*='kind=stripe']", "")
	w.key(kb.Enter)
	w.await("the form", `location.search.includes('kind=stripe') && document.readyState === 'complete'`)
	w.enter([2]string{"#name", longName}, [2]string{"#secret", stripeSecret})
	w.key(kb.Enter)
	w.done("Source added")
	w.ingest = eval[string](w.tab, `document.body.textContent.match(/https?:\/\/[^\s"']+\/ingest\/\w+/)[0]`)
}

func (w *visitor) keysEndpoint() {
	w.t.Helper()
	w.goes("n", "/endpoints")
	w.tabTo("a[href$='/endpoints/new']", "")
	w.key(kb.Enter)
	w.await("the form", `location.pathname.endsWith('/endpoints/new') && document.readyState === 'complete'`)
	w.enter([2]string{"#url", w.receiver.url + "/hook"}, [2]string{"#description", "ERP sync"})
	w.tabTo("button", "Add endpoint")
	w.key(kb.Enter)
	w.done("Added ERP sync")
	w.endpoint = w.path()
}

func (w *visitor) keysRedeliver() {
	w.t.Helper()
	w.stripe()
	w.arrived(1)
	w.goToEvents(1)
	w.key("j")
	w.wantRow(1)
	w.key(kb.Enter)
	w.await("the event's page", `/\/events\/evt_/.test(location.pathname) && document.readyState === 'complete'`)
	w.reload(`[...document.querySelectorAll('main .badge')].some((e) => e.innerText.trim() === 'Delivered')`)
	w.key("r")
	w.within("Redeliver “")
	w.tabTo("dialog[open] button", "Redeliver")
	w.key(kb.Enter)
	w.done("Sent again to 1 endpoint")
	if first, second := w.arrived(1), w.arrived(2); first.event != second.event || second.attempt != 2 {
		w.t.Errorf("redelivered, %s attempt %d came after %s", second.event, second.attempt, first.event)
	}
}

func (w *visitor) keysRotate() {
	w.t.Helper()
	w.goes("n", "/endpoints")
	w.tabTo("main tbody a", "ERP sync")
	w.key(kb.Enter)
	w.await("the endpoint's page", fmt.Sprintf(`location.pathname === %q && document.readyState === 'complete'`, w.endpoint))
	w.tabTo("a.btn", "Rotate…")
	w.key(kb.Enter)
	w.within("Rotate")
	w.key(kb.Escape)
	w.await("the dialog is closed, and the focus is where it was", `!document.querySelector('dialog[open]') && document.activeElement.innerText.trim() === 'Rotate…'`)
	w.key(kb.Enter)
	w.within("Rotate")
	w.tabTo("dialog[open] button", "Rotate secret")
	w.key(kb.Enter)
	w.done("Rotated")
	w.stripe()
	if h := w.arrived(3); h.signatures != 2 {
		w.t.Errorf("after the rotation a request has %d signatures, want 2", h.signatures)
	}
}

// keysAPIKey makes a key and returns its text, which is shown once.
func (w *visitor) keysAPIKey() string {
	w.t.Helper()
	w.goes("k", "/settings/keys")
	w.tabTo("a[href$='/settings/keys/new']", "")
	w.key(kb.Enter)
	w.within("Create API key")
	w.tabTo("dialog[open] #name", "")
	w.write("mailer")
	w.key(kb.Enter)
	w.awaitText("rk_")
	return eval[string](w.tab, `document.body.innerText.match(/rk_[A-Za-z0-9_-]+/)[0]`)
}

func (w *visitor) keysReclaim(n *node, key string) {
	w.t.Helper()
	a := &account{node: n, Key: key}
	want[struct{}](w.t, a, http.StatusCreated, http.MethodPost, "/claims", `{"scope":"welcome-mails","key":"cus_1001","lease":"1s","holder":"mailer-7"}`)
	w.goes("c", "/claims")
	w.await("its end is seen", `!!document.querySelector('main tbody [data-s=lease_ended]')`)
	w.tabTo("main a.btn", "Reclaim…")
	w.key(kb.Enter)
	w.within("Reclaim “cus_1001”?")
	w.tabTo("dialog[open] textarea", "")
	w.write("the mailer is gone")
	w.tabTo("dialog[open] button", "Reclaim")
	w.key(kb.Enter)
	w.await("the claim's page", `/\/claims\/clm_/.test(location.pathname) && document.querySelector('h1 .badge').innerText.includes('Released')`)
	w.awaitText("“the mailer is gone”")
}
