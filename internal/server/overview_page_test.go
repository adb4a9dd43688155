package server_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/deliver"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/pgtest"
	"github.com/rowlock/rowlock/internal/server"
	"github.com/rowlock/rowlock/internal/store"
)

// done are the titles of the first steps that are ticked.
func (p page) done() string {
	var titles []string
	for _, step := range p.Find("#start .steps > li[data-done] h3").EachIter() {
		titles = append(titles, step.Text())
	}
	return strings.Join(titles, ", ")
}

// The first steps tick themselves, and leave when they are taken.
func TestOverviewFromTheFirstStepOn(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	w := b.signedUp(t, "Acme")
	n := w.tenant()
	p := w.get(w.home)
	p.wantStatus(http.StatusOK)
	if p.done() != "" || !strings.Contains(p.Find("#start [role=status]").Text(), "Waiting for the first event") || p.Find("#figures .stat").Length() != 0 {
		t.Errorf("a new account's page says %q", wordsOf(p))
	}
	if p.Find("body").AttrOr("data-stream", "") != "/a/acme/stream" {
		t.Error("the page does not listen")
	}

	if !strings.Contains(p.Find("#publish").Text(), `-H "Idempotency-Key: hello-$(date +%s)"`) {
		t.Errorf("the command is %q", p.Find("#publish").Text())
	}

	source := n.must(201, http.MethodPost, "/sources", `{"name":"<b>Shop</b>","kind":"none"}`)
	n.must(201, http.MethodPost, "/endpoints", object{"url": somewhere, "uid": "nowhere"})
	p = w.get(w.home)
	if p.done() != "Add a source, Add an endpoint" || p.Find("#ingest code").Text() != text(source, "ingest_url") {
		t.Errorf("done: %s; the source takes requests at %q", p.done(), p.Find("#ingest code").Text())
	}

	event := n.must(202, http.MethodPost, "/events", `{"type":"a.b","data":1}`)
	b.process(t, text(event, "id"))
	p = w.get(w.home)
	if p.done() != "Add a source, Add an endpoint, Receive the first event" || !strings.Contains(p.Find("#start [role=status]").Text(), "First event received") {
		t.Errorf("done: %s", p.done())
	}
	if p.Find("#figures .stat").Length() != 4 || p.Find("#ingest").Length() != 0 {
		t.Error("the numbers do not show, or the source's address still does")
	}
	if p.Find("#start [role=status] a[href='/a/acme/events/"+text(event, "id")+"']").Length() != 1 || p.Find("#start .steps a").Length() != 0 {
		t.Error("the page does not lead to the event")
	}

	n.must(201, http.MethodPost, "/endpoints", object{"url": answering(t, http.StatusOK), "uid": "good"})
	n.must(200, http.MethodPost, "/endpoints/good/test", `{"type":"a.b"}`)
	if p = w.get(w.home); p.Find("#start .steps").Length() != 0 || p.Find("#start").Length() != 1 {
		t.Errorf("with a delivery the page says %q", wordsOf(p))
	}
}

// An event that came before there was an endpoint waits for a hand.
func TestOverviewOfAnEventBeforeAnEndpoint(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	w := b.signedUp(t, "Acme")
	n := w.tenant()
	event := n.must(202, http.MethodPost, "/events", `{"type":"a.b","data":1}`)
	b.process(t, text(event, "id"))
	if said := w.get(w.home).Find("#troubled p").Text(); !strings.Contains(said, "There is no endpoint yet") {
		t.Errorf("without an endpoint, %q need attention", said)
	}
	n.must(201, http.MethodPost, "/endpoints", object{"url": somewhere, "uid": "nowhere"})
	p := w.get(w.home)
	step := p.Find("#start .steps > li[data-now]")
	if !strings.Contains(step.Text(), "The first event came before an endpoint asked for it.") || step.Find("a[href='/a/acme/events/"+text(event, "id")+"']").Length() != 1 {
		t.Errorf("the next step is %q", step.Text())
	}
	if said := p.Find("#troubled p").Text(); !strings.Contains(said, "Nothing was sent yet.") {
		t.Errorf("with a new endpoint, %q need attention", said)
	}
	n.must(200, http.MethodPost, "/endpoints/nowhere/pause", nil)
	if said := w.get(w.home).Find("#troubled p").Text(); !strings.Contains(said, "One is paused") {
		t.Errorf("with a paused endpoint, %q need attention", said)
	}
	n.must(200, http.MethodPost, "/endpoints/nowhere/resume", nil)
	n.must(201, http.MethodPost, "/endpoints", object{"url": answering(t, http.StatusOK), "uid": "good"})
	n.must(200, http.MethodPost, "/endpoints/good/test", `{"type":"a.b"}`)
	if said := w.get(w.home).Find("#troubled p").Text(); !strings.Contains(said, "None. No endpoint is failing or disabled.") {
		t.Errorf("with a resumed endpoint, %q need attention", said)
	}
	n.must(204, http.MethodDelete, "/endpoints/nowhere", nil)
	if said := w.get(w.home).Find("#troubled p").Text(); !strings.Contains(said, "None. Every endpoint’s last attempt succeeded.") {
		t.Errorf("with a good endpoint, %q need attention", said)
	}
}

// answering is the address of a receiver that always says the same.
func answering(t *testing.T, status int) string {
	t.Helper()
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
	t.Cleanup(receiver.Close)
	return receiver.URL
}

func TestOverviewOfTraffic(t *testing.T) {
	t.Parallel()
	var sending sender
	b := newBundle(t, withPages, sending.runs(t))
	w := b.signedUp(t, "Acme")
	n := w.tenant()
	n.must(201, http.MethodPost, "/endpoints", object{"url": answering(t, http.StatusOK), "event_types": []string{"good", "both"}})
	n.must(201, http.MethodPost, "/endpoints", object{"url": answering(t, http.StatusServiceUnavailable), "event_types": []string{"both"}, "description": "ERP <sync>"})
	for _, eventType := range []string{"good", "good", "both"} {
		event := n.must(202, http.MethodPost, "/events", object{"type": eventType, "data": 1})
		b.process(t, text(event, "id"))
	}
	sending.wake(n)
	pgtest.Until(t, "three deliveries are confirmed and one is not", func() bool {
		y, err := b.store.Totals(t.Context(), n.account, nil, store.LastSteps(b.clock.Now(), 60, time.Minute))
		return err == nil && y.Succeeded == 3 && y.Failed() == 1
	})
	for _, length := range []string{"1h", "24h", "7d", "30d", "", "nonsense"} {
		p := w.get(w.home + "?range=" + length)
		p.wantStatus(http.StatusOK)
		if got := strings.Join(strings.Fields(p.Find("#figures .stat-v").First().Text()), ""); got != "75%" {
			t.Errorf("%s: success is %s", length, got)
		}
		want := length
		if length == "" || length == "nonsense" {
			want = "24h"
		}
		if got := p.Find(".seg [aria-current]").Text(); got != want {
			t.Errorf("%q shows %s", length, got)
		}
		if rows := p.Find("#troubled tbody tr"); rows.Length() != 1 || !strings.Contains(rows.Text(), "ERP <sync>") || !strings.Contains(rows.Text(), "503") {
			t.Errorf("%s: %q need attention", length, rows.Text())
		}
		if bars := p.Find("#figures .chart-table tbody tr").Length(); bars < 60 {
			t.Errorf("%s: the table has %d rows", length, bars)
		}
	}
}

// sender sends what a bundle's events are decided to be sent as.
type sender struct{ *deliver.Service }

// runs is a change of a bundle's dependencies: deliveries are sent.
func (s *sender) runs(t *testing.T) func(*server.Deps) {
	t.Helper()
	return func(d *server.Deps) {
		s.Service = d.Deliver
		pgtest.Background(t, s.Run)
	}
}

// wake has the deliveries of all of an account's endpoints sent.
func (s *sender) wake(n *tenant) {
	n.t.Helper()
	endpoints, err := n.store.Endpoints(n.t.Context(), n.account, store.Page[gateway.EndpointID]{Limit: 10})
	if err != nil {
		n.t.Fatal(err)
	}
	for _, e := range endpoints {
		s.Wake([]gateway.LaneRef{{AccountID: n.account, EndpointID: e.ID}})
	}
}

// What was done stands there in words, with who did it.
func TestOverviewTellsWhatWasDone(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	w := b.signedUp(t, "Acme")
	n := w.tenant()
	event := n.must(202, http.MethodPost, "/events", `{"type":"a.b","data":1}`)
	b.process(t, text(event, "id"))
	made := n.must(201, http.MethodPost, "/endpoints", object{"url": somewhere, "description": "ERP <sync>"})
	gone := n.must(201, http.MethodPost, "/endpoints", object{"url": "http://127.0.0.1:1/gone"})
	source := n.must(201, http.MethodPost, "/sources", `{"name":"Shop","kind":"none"}`)
	n.must(200, http.MethodPost, "/endpoints/"+text(made, "id")+"/pause", nil)
	n.must(204, http.MethodDelete, "/endpoints/"+text(gone, "id"), nil)
	p := w.get(w.home)
	p.wantStatus(http.StatusOK)
	all := strings.Join(strings.Fields(p.Find("#activity").Text()), " ")
	for _, want := range []string{
		"test (key) paused ERP <sync>", "test (key) added the endpoint ERP <sync>", "test (key) deleted the endpoint 127.0.0.1:1/gone",
		"test (key) added the source Shop", "Person of Acme created the account Acme",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not told in %q", want, all)
		}
	}
	if p.Find("#activity a[href='/a/acme/endpoints/"+text(made, "id")+"']").Length() != 2 || p.Find("#activity a[href='/a/acme/sources/"+text(source, "id")+"']").Length() != 1 {
		t.Error("what is there has no link")
	}
	if p.Find("#activity a[href$='"+text(gone, "id")+"']").Length() != 0 {
		t.Error("what is gone has a link")
	}
}

// Who may only look is offered nothing that they may not do.
func TestOverviewOfAMember(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	w := b.signedUp(t, "Acme")
	token := w.addSource("none", url.Values{"name": {"Doorbell"}}).ingestURL()
	token = token[strings.LastIndex(token, "/")+1:]
	if p := w.get(w.home); !strings.Contains(p.text, token) {
		t.Error("the owner is not told where to send to")
	}
	guest := w.newMember()
	p := guest.get(w.home)
	p.wantStatus(http.StatusOK)
	if strings.Contains(p.text, token) {
		t.Error("a member sees the ingest address")
	}
	if p.Find("#start .steps a").Length() != 0 || !strings.Contains(p.Find("#start").Text(), "An admin or an owner can") {
		t.Errorf("a member sees %q", wordsOf(p))
	}
}
