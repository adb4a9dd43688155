package server_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// The test console signs what stands in it, tells each step, and shows what an
// operator would see of what is wrong.
func TestTestConsole(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	w := b.signedUp(t, "Acme")
	n := w.tenant()
	const secret = "my client state"
	made := n.must(201, http.MethodPost, "/sources", object{"name": "Mail", "kind": "microsoft_graph", "secret": secret})
	console := w.home + "/sources/" + text(made, "id") + "/test"
	p := w.get(w.get(w.home+"/sources/"+text(made, "id")).Find("a[href$='/test']").AttrOr("href", "")).answered(http.StatusOK)

	steps := func(p page) string { return strings.Join(strings.Fields(p.Find("#steps").Text()), " ") }
	checked := w.submit(p, "#console", url.Values{"fault": {"none"}}).answered(http.StatusOK)
	if got := steps(checked); !strings.Contains(got, "Would be 1 event") || !strings.Contains(got, "told 202") {
		t.Errorf("checked: %s", got)
	}
	if strings.Contains(checked.Text(), secret) || !strings.Contains(steps(checked), "[redacted]") {
		t.Error("the secret is shown")
	}
	sent := w.submit(checked, "#console", url.Values{"send": {"1"}}).answered(http.StatusOK)
	href := sent.Find("#made-events a").AttrOr("href", "")
	w.get(href).wantStatus(http.StatusOK)
	again := w.submit(sent, "#console", url.Values{"send": {"1"}}).answered(http.StatusOK)
	if got := steps(again); !strings.Contains(got, "A repeat") || again.Find("#made-events a").AttrOr("href", "") != href {
		t.Errorf("the same sample again: %s", got)
	}
	refused := w.submit(again, "#console", url.Values{"fault": {"wrong_secret"}, "send": {"1"}}).answered(http.StatusOK)
	if got := steps(refused); !strings.Contains(got, "Refused: wrong secret") || !strings.Contains(got, "told 401") {
		t.Errorf("refused: %s", got)
	}
	w.get(refused.Find("#operator-sees a").AttrOr("href", "")).answered(http.StatusOK).wantText("#why", "clientState")
	if at := refused.Find("#steps[autofocus] [role='status']"); !strings.Contains(at.Text(), "Refused: wrong secret.") {
		t.Errorf("who does not see the page is told %q", at.Text())
	}
	if got := w.get(console+"?fault=altered").Find("#fault option[selected]").AttrOr("value", ""); got != "altered" {
		t.Errorf("the address chooses %q", got)
	}

	own := w.submit(refused, "#console", url.Values{"fault": {"none"}, "body": {"{\r\n\"value\": [{\"id\": \"mine\"}]}"}}).answered(http.StatusOK)
	if got := steps(own); !strings.Contains(got, "known by mine") || own.Find("#body").Text() != "{\n\"value\": [{\"id\": \"mine\"}]}" {
		t.Errorf("a body of one's own: %s, %q", got, own.Find("#body").Text())
	}
	broken := w.submit(own, "#console", url.Values{"headers": {"no colon"}}).answered(http.StatusUnprocessableEntity)
	if broken.Find("#headers[aria-invalid]").Text() != "no colon" || broken.Find("#made-events").Length() != 0 {
		t.Errorf("%s", broken.Find("#console").Text())
	}
	w.post(console, url.Values{"fault": {"none"}, "headers": {"a b: c"}}).wantStatus(http.StatusUnprocessableEntity)
	w.post(console, url.Values{"fault": {"old"}}).wantStatus(http.StatusUnprocessableEntity) // it signs no time
}

// Where only the provider can sign, nothing can be sent in.
func TestTestConsoleOfAPublicKey(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	w := b.signedUp(t, "Acme")
	n := w.tenant()
	made := n.must(201, http.MethodPost, "/sources", object{
		"name": "Chat", "kind": "discord", "secret": "e7c9f7d1d3a3a8f7a5e0d1c2b3a4958677685940312213040506070809101112",
	})
	p := w.get(w.home + "/sources/" + text(made, "id") + "/test").answered(http.StatusOK)
	if p.Find("button[name='send']").Length() != 0 {
		t.Error("it can be sent in")
	}
	if got := w.submit(p, "#console", nil).answered(http.StatusOK).Find("#steps").Text(); !strings.Contains(got, "Verified") || !strings.Contains(got, "private half") {
		t.Errorf("checked: %s", got)
	}
	w.submit(p, "#console", url.Values{"send": {"1"}}).wantStatus(http.StatusUnprocessableEntity)
	builtIn := ""
	for _, s := range entries(n.must(200, http.MethodGet, "/sources", nil)) {
		if s["kind"] == "api" {
			builtIn = text(s, "id")
		}
	}
	w.get(w.home + "/sources/" + builtIn + "/test").wantStatus(http.StatusConflict)
}

// answered is the page, which has to have this status.
func (p page) answered(status int) page {
	p.t.Helper()
	p.wantStatus(status)
	return p
}
