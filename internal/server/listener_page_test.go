package server_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// An endpoint that is listened for is made and changed on the pages, which say
// how to listen, who does, and that nobody does.
func TestListenOnThePages(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	p := w.addEndpoint(url.Values{"kind": {"listen"}, "uid": {"laptop"}, "url": {"left behind"}})
	p.wantToast("Listen with the command below.")
	if text := p.Find("#listener").Text(); !strings.Contains(text, "rowlock listen --endpoint laptop --forward-to ") || !strings.Contains(text, "ROWLOCK_SERVER="+w.url) {
		t.Errorf("the page says %q", text)
	}
	if text := p.Find("#trouble").Text(); !strings.Contains(text, "Nobody listens.") {
		t.Errorf("its trouble is %q", text)
	}
	n, at := w.tenant(), "/endpoints/"+idOf(p)
	made := n.must(200, http.MethodGet, at, nil)
	if made["kind"] != "listen" || made["url"] != nil {
		t.Errorf("made %v", made)
	}
	test := w.submit(w.get(pathOf(p)+"/test"), "form[action$='/test']", nil)
	test.wantStatus(http.StatusUnprocessableEntity)
	if !strings.Contains(test.Find("main").Text(), "Nobody listens. Start rowlock listen") {
		t.Errorf("a test: %q", test.Find("main").Text())
	}
	w.follow(w.submit(w.get(pathOf(p)+"/edit"), "form#endpoint", url.Values{"description": {"Jo"}})).wantToast("Saved.")
	if now := n.must(200, http.MethodGet, at, nil); now["description"] != "Jo" || now["kind"] != "listen" {
		t.Errorf("changed to %v", now)
	}
	if text := w.get(w.home + "/endpoints").Find("#" + idOf(p)).Text(); !strings.Contains(text, "nobody listens") {
		t.Errorf("the list says %q", text)
	}
	body := w.get(pathOf(p)).Find("body")
	live := w.listenAt(t, body.AttrOr("data-stream", "")+"&since="+url.QueryEscape(body.AttrOr("data-since", "")))
	id, err := gateway.ParseID[gateway.EndpointID](idOf(p))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := w.store.HearListener(t.Context(), n.account, id, gateway.Listener{ID: listenerName, Host: "jo-laptop"}); err != nil {
		t.Fatal(err)
	}
	came := live.operation()
	p = w.get(pathOf(p))
	if text := p.Find("#listener-status").Text(); !strings.Contains(text, "Connected from jo-laptop") || p.Find("#trouble .callout").Length() != 0 {
		t.Errorf("the page says %q", text)
	}
	if err := w.store.DropListener(t.Context(), n.account, id, listenerName); err != nil {
		t.Fatal(err)
	}
	if left := live.operation(); came == 0 || left == 0 || left == came {
		t.Errorf("the page hears %d when somebody listens, and %d when they have gone", came, left)
	}
}

// What went to a listener is shown as what went anywhere.
func TestListenedForOnOtherPages(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	n := w.tenant()
	id, err := gateway.ParseID[gateway.EndpointID](text(n.must(201, http.MethodPost, "/endpoints", `{"kind":"listen"}`), "id"))
	if err != nil {
		t.Fatal(err)
	}
	event, err := gateway.ParseID[gateway.EventID](n.publish(`{"type":"order.created","data":1}`))
	if err != nil {
		t.Fatal(err)
	}
	tested := gateway.Attempt{
		DeliveryID: gateway.DeriveDeliveryID(event, id), N: 1, AccountID: n.account, EndpointID: id, EventID: event, Trigger: gateway.TriggerTest,
		StartedAt: w.clock.Now(), Duration: time.Millisecond, Outcome: gateway.OutcomeRejected, StatusCode: 500,
	}
	if err := w.store.InTx(t.Context(), func(tx store.Tx) error { return tx.InsertTested(t.Context(), tested, gateway.DeliveryFailed) }); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/deliveries", "/deliveries/" + tested.DeliveryID.String(), "/events/" + event.String(), "/failures", "/attempts", "/endpoints"} {
		p := w.get(w.home + path)
		p.wantStatus(http.StatusOK)
		if !strings.Contains(p.Find("main").Text(), "rowlock listen") {
			t.Errorf("%s does not say who got it: %q", path, p.Find("main").Text())
		}
	}
}
