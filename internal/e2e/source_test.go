package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/rowlock/rowlock/internal/signature"
)

// What happens when somebody adds a source, in a browser: the page waits, says
// why a request was refused, turns by itself when a right one comes, and takes
// the refused one after the secret was mended.
func TestSourceInABrowser(t *testing.T) {
	t.Parallel()
	n := startNode(t, onDatabase(t, newDatabase(t, shared)))
	w := &visitor{tab: newTab(t, n.url)}
	w.signUp("Harbor Coffee", "mara@example.com")

	w.open(w.home + "/sources/new")
	w.fill("#find-kind input", "invoice stripe")
	w.await("what was found", `document.querySelectorAll('.kinds a').length === 1`)
	w.do(chromedp.Click(chromedp.CSS(".kinds a")))
	w.await("the form", `!!document.querySelector('#secret')`)
	w.fill("#secret", stripeSecret)
	w.press("Add source")
	w.done("Source added")
	source := w.path()
	w.awaitText("Waiting for the first request")
	w.ingest = eval[string](w.tab, `document.body.textContent.match(/https?:\/\/[^\s"']+\/ingest\/\w+/)[0]`)
	w.await("the page listens", `[...document.querySelectorAll('.live')].some((e) => e.innerText.includes('Live'))`)

	const other = "whsec_the_secret_of_another_endpoint"
	wrong := w.sign("stripe", other, "evt_refused")
	if status, answer := w.deliver(wrong); status != http.StatusUnauthorized {
		t.Fatalf("wrongly signed: %d %s", status, answer)
	}
	w.awaitText("The newest request was refused")
	w.do(chromedp.Click(chromedp.CSS("#requests tbody a")))
	w.await("the request's page", `/\/requests\/req_/.test(location.pathname)`)
	w.awaitText("Stripe-Signature")
	w.awaitText("The signature was made with another secret")
	if text := eval[string](w.tab, `document.documentElement.outerHTML`); strings.Contains(text, stripeSecret) {
		t.Error("the page shows the secret")
	}
	refused := w.path()

	w.open(source)
	if status, answer := w.deliver(w.sign("stripe", stripeSecret, "evt_right")); status != http.StatusOK {
		t.Fatalf("rightly signed: %d %s", status, answer)
	}
	w.await("the page turns", `!document.body.innerText.includes('Waiting for the first')`)

	w.open(refused)
	w.question("Accept late…")
	w.awaitText("still not proven")
	w.open(source + "/rotate")
	w.fill("#secret", other)
	w.press("Change secret")
	w.done("Secret changed")
	w.open(refused)
	w.question("Accept late…")
	w.press("Accept request")
	w.done("Accepted")
	w.press("Open its event")
	w.await("its event", `/\/events\/evt_/.test(location.pathname)`)
	w.awaitText("Accepted late")
}

// Slack checks a new address with a challenge, which is answered, and its
// source's page says so by itself.
func TestSlackIsAnswered(t *testing.T) {
	t.Parallel()
	n := startNode(t, onDatabase(t, newDatabase(t, shared)))
	w := &visitor{tab: newTab(t, n.url)}
	w.signUp("Harbor Coffee", "mara@example.com")
	const secret = "8f742231b10e8888abcd99yyyzzz85a5"
	w.open(w.home + "/sources/new?kind=slack")
	w.fill("#secret", secret)
	w.press("Add source")
	w.done("Source added")
	w.ingest = eval[string](w.tab, `document.body.textContent.match(/https?:\/\/[^\s"']+\/ingest\/\w+/)[0]`)
	w.await("the page listens", `[...document.querySelectorAll('.live')].some((e) => e.innerText.includes('Live'))`)
	challenge := w.sign("slack", secret, "")
	challenge.Body = []byte(`{"token":"x","challenge":"3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P","type":"url_verification"}`)
	scheme, _ := signature.Lookup("slack")
	if err := scheme.Sign(&challenge, signature.Settings{}, secret); err != nil {
		t.Fatal(err)
	}
	if status, answer := w.deliver(challenge); status != http.StatusOK || answer != "3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P" {
		t.Fatalf("the challenge: %d %q", status, answer)
	}
	w.awaitText("its challenge was answered")
}

// sign makes a provider's sample, signed with a secret.
func (w *visitor) sign(kind, secret, id string) signature.Request {
	w.t.Helper()
	scheme, ok := signature.Lookup(kind)
	if !ok {
		w.t.Fatalf("no kind %s", kind)
	}
	request := scheme.Sample(w.ingest, id, time.Now())
	if err := scheme.Sign(&request, signature.Settings{}, secret); err != nil {
		w.t.Fatal(err)
	}
	return request
}

// deliver sends what was signed to the node.
func (w *visitor) deliver(request signature.Request) (int, string) {
	w.t.Helper()
	_, path, ok := strings.Cut(request.URL, "/ingest/")
	if !ok {
		w.t.Fatalf("no ingest URL: %s", request.URL)
	}
	request.URL = fmt.Sprintf("%s/ingest/%s", w.base, path)
	status, answer := exchange(w.t, overHTTP(w.t, request))
	return status, string(answer)
}
