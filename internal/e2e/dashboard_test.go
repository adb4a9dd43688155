package e2e

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// checkout is an event as Stripe sends it.
//
//go:embed testdata/stripe_checkout.json
var checkout []byte

const (
	// passphrase is the password of whoever signs up here.
	passphrase = "a long enough passphrase 7"
	// longName is a source's, and longer than any column.
	longName = "Stripe live, of the shop in Porto whose name is longer than every column has room for"
	// stripeSecret is shared with Stripe.
	stripeSecret = "whsec_c3RyaXBlLXRlc3Qtc2VjcmV0LW9mLXRoZS13YWxr"
)

// What people do first, in a browser: sign up, a source, an endpoint, an event
// that arrives, redelivering it, rotating the secret, pausing and resuming.
func TestDashboard(t *testing.T) {
	t.Parallel()
	for name, scripts := range map[string]bool{"with scripts": true, "without scripts": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := startNode(t, onDatabase(t, newDatabase(t, shared)))
			w := &visitor{tab: newTab(t, n.url), receiver: newReceiver(t, func() time.Duration { return 0 })}
			call(w.tab, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !scripts})
			w.signUp("Harbor Coffee", "mara@example.com")
			w.addSource()
			w.addEndpoint()
			w.receiveEvent()
			if scripts {
				w.inspectLists()
			}
			w.redeliver()
			w.rotate()
			w.pauseAndResume()
		})
	}
}

// Forms are taken on plain http, too, where browsers say less of where a form
// stood.
func TestDashboardOnPlainHTTP(t *testing.T) {
	t.Parallel()
	n := startNode(t, onDatabase(t, newDatabase(t, shared)))
	(&visitor{tab: newTab(t, n.url)}).signUp("Harbor Coffee", "mara@example.com")
	far := newTab(t, strings.Replace(n.url, "127.0.0.1", plainHost, 1))
	far.open("/login")
	far.fill("#email", "mara@example.com")
	far.fill("#password", passphrase)
	far.press("Log in")
	far.await("the overview", `location.pathname.startsWith('/a/')`)
}

// visitor is somebody at a browser, with a receiver of their own.
type visitor struct {
	*tab

	receiver *receiver
	// home is the account's path, ingest where Stripe sends to, and endpoint the
	// endpoint's page.
	home, ingest, endpoint string
	// sent counts Stripe's events.
	sent int
}

func (w *visitor) signUp(account, email string) {
	w.t.Helper()
	w.open("/")
	if w.path() != "/signup" {
		w.t.Fatalf("a new instance leads to %s", w.path())
	}
	w.fill("#name", "Mara Lindqvist")
	w.fill("#email", email)
	w.fill("#password", passphrase)
	w.fill("#account", account)
	w.press("Create account")
	w.await("the overview", `location.pathname.startsWith('/a/')`)
	w.home = w.path()
}

func (w *visitor) addSource() {
	w.t.Helper()
	w.open(w.home + "/sources/new?kind=stripe")
	w.fill("#name", longName)
	w.fill("#secret", stripeSecret)
	w.press("Add source")
	w.done("Source added")
	w.ingest = eval[string](w.tab, `document.body.textContent.match(/https?:\/\/[^\s"']+\/ingest\/\w+/)[0]`)
}

func (w *visitor) addEndpoint() {
	w.t.Helper()
	w.open(w.home + "/endpoints/new")
	w.fill("#url", w.receiver.url+"/hook")
	w.fill("#description", "ERP sync")
	w.press("Add endpoint")
	w.done("Added ERP sync")
	w.endpoint = w.path()
}

// stripe sends an event as Stripe does: its time and the body, signed.
func (w *visitor) stripe() {
	w.t.Helper()
	w.sent++
	body := bytes.Replace(checkout, []byte(`"id":"evt_`), fmt.Appendf(nil, `"id":"evt_%d`, w.sent), 1)
	at := strconv.FormatInt(time.Now().Unix(), 10)
	mac := hmac.New(sha256.New, []byte(stripeSecret))
	mac.Write([]byte(at + "."))
	mac.Write(body)
	address, err := url.Parse(w.ingest)
	if err != nil {
		w.t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, w.base+address.Path, bytes.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json; charset=utf-8")
	r.Header.Set("Stripe-Signature", "t="+at+",v1="+hex.EncodeToString(mac.Sum(nil)))
	answer, err := caller.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer answer.Body.Close() //nolint:errcheck // nothing is read
	if answer.StatusCode != http.StatusOK {
		w.t.Fatalf("the event of Stripe is answered with %d", answer.StatusCode)
	}
}

// arrived waits until the receiver has so many requests, and returns the last.
func (w *visitor) arrived(n int) hit {
	w.t.Helper()
	waitFor(w.t, patience, fmt.Sprintf("request %d has arrived", n), func() bool { return len(w.receiver.all()) >= n })
	return w.receiver.all()[n-1]
}

func (w *visitor) receiveEvent() {
	w.t.Helper()
	w.stripe()
	if h := w.arrived(1); h.kind != "checkout.session.completed" || h.signatures != 1 {
		w.t.Errorf("what arrived is %q with %d signatures", h.kind, h.signatures)
	}
	w.open(w.home + "/events")
	w.press("checkout.session.completed")
	w.await("the event's page", `/\/events\/evt_/.test(location.pathname)`)
	w.reload(`[...document.querySelectorAll('main .badge')].some((e) => e.innerText.trim() === 'Delivered')`)
	w.awaitText("Signature verified")
	w.awaitText("cs_")
}

// inspectLists looks at what shows the source's name, and comes back.
func (w *visitor) inspectLists() {
	w.t.Helper()
	event := w.path()
	w.inspect(w.home, w.home+"/events", w.home+"/deliveries", w.home+"/sources", w.endpoint, event)
	w.look(look{1440, "light"})
	w.open(event)
}

// reload opens the page again until a script says true.
func (w *visitor) reload(script string) {
	w.t.Helper()
	waitFor(w.t, patience, script+" at "+w.path(), func() bool {
		yes, err := chromedp.Run(w.ctx, chromedp.Evaluate[bool](script))
		if err == nil && !yes {
			w.do(chromedp.Reload())
		}
		return err == nil && yes
	})
}

// question presses a button that asks something, and waits for the question: a
// dialog, or without scripts a page.
func (w *visitor) question(button string) {
	w.t.Helper()
	w.press(button)
	w.await("the question after "+button, `!!document.querySelector('dialog[open] form, .confirm form')`)
}

func (w *visitor) redeliver() {
	w.t.Helper()
	w.question("Redeliver…")
	w.press("Redeliver")
	w.done("Sent again to 1 endpoint")
	if first, second := w.arrived(1), w.arrived(2); first.event != second.event || second.attempt != 2 {
		w.t.Errorf("redelivered, %s attempt %d came after %s", second.event, second.attempt, first.event)
	}
}

func (w *visitor) rotate() {
	w.t.Helper()
	w.open(w.endpoint)
	w.question("Rotate…")
	w.press("Rotate secret")
	w.done("Rotated")
	w.awaitText("whsec_")
	w.stripe()
	if h := w.arrived(3); h.signatures != 2 {
		w.t.Errorf("after the rotation a request has %d signatures, want 2", h.signatures)
	}
}

func (w *visitor) pauseAndResume() {
	w.t.Helper()
	w.open(w.endpoint + "/pause")
	w.press("Pause endpoint")
	w.done("Paused")
	w.stripe()
	w.open(w.home + "/events")
	w.reload(`document.querySelectorAll('#events tbody tr').length === 3`)
	w.open(w.endpoint)
	w.press("Resume")
	w.done("Resumed")
	w.arrived(4)
	if n := len(w.receiver.all()); n != 4 {
		w.t.Errorf("%d requests arrived, want 4", n)
	}
	if !strings.HasPrefix(w.path(), w.endpoint) {
		w.t.Errorf("resuming leads to %s", w.path())
	}
}
