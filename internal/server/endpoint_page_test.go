package server_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"github.com/rowlock/rowlock/internal/deliver"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/pgtest"
	"github.com/rowlock/rowlock/internal/server"
	"github.com/rowlock/rowlock/internal/store"
)

// sendTests sends test events and returns the endpoint's page.
func (w *browser) sendTests(path string, n int) page {
	w.t.Helper()
	for range n {
		w.post(path+"/test", url.Values{}).wantStatus(http.StatusSeeOther)
	}
	return w.get(path)
}

// attemptsOn lists the attempts that a page shows, by their ids.
func attemptsOn(p page) (ids []string) {
	p.Find("#attempts tbody tr").Each(func(_ int, row *goquery.Selection) { ids = append(ids, row.AttrOr("id", "")) })
	return ids
}

// Every attempt is on one part of the list, and the filters part them.
func TestAttemptsOnAnEndpointsPage(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	var calls atomic.Int64
	flaky := httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, _ *http.Request) {
		if calls.Add(1)%3 == 0 {
			answer.WriteHeader(http.StatusBadGateway)
		}
	}))
	t.Cleanup(flaky.Close)
	path := pathOf(w.addEndpoint(url.Values{"url": {flaky.URL}}))
	p := w.sendTests(path, 30)
	seen := attemptsOn(p)
	older := p.Find(`#attempts .pager a[rel="next"]`).AttrOr("href", "")
	next := w.get(older)
	if rest := attemptsOn(next); len(seen) != 25 || len(rest) != 5 || next.Find(`#attempts .pager a[rel="next"]`).Length() != 0 {
		t.Errorf("%d attempts, then %d", len(seen), len(rest))
	} else {
		seen = append(seen, rest...)
	}
	slices.Sort(seen)
	if all := len(slices.Compact(seen)); all != 30 {
		t.Errorf("%d attempts are shown, want 30", all)
	}
	if back := next.Find("#attempts .pager a").First().AttrOr("href", ""); w.get(back).Find("#attempts tbody tr").Length() != 25 {
		t.Errorf("%s does not lead back", back)
	}
	for show, want := range map[string]int{"failed": 10, "succeeded": 20} {
		link := p.Find(`#attempts .seg a[href*="show=`+show+`"]`).AttrOr("href", "")
		narrowed := w.get(link)
		if got := narrowed.Find("#attempts tbody tr").Length(); got != want {
			t.Errorf("%d %s, want %d", got, show, want)
		}
		if narrowed.Find(`#attempts .seg a[aria-current]`).Length() != 1 {
			t.Errorf("%s does not show what is chosen", link)
		}
	}
	for _, odd := range []string{"?after=x", "?show=x&range=x", "?after=" + strings.Repeat("A", 32), "?after=_____________________________________w"} {
		w.get(path + odd).wantStatus(http.StatusOK)
	}
}

// What a page narrows stays when something else is chosen.
func TestEndpointPageKeepsItsAddress(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	p := w.get(pathOf(w.addEndpoint(url.Values{"url": {somewhere}})) + "?range=7d&show=failed&tested=x")
	for _, link := range []string{`#numbers .seg a[href*="range=30d"][href*="show=failed"]`, `#attempts .seg a[href*="show=succeeded"][href*="range=7d"]`} {
		if p.Find(link).Length() != 1 || strings.Contains(p.Find(link).AttrOr("href", ""), "tested") {
			t.Errorf("there is no %s", link)
		}
	}
	if p.Find(`#numbers .seg a[aria-current]`).Text() != "7d" || p.Find("#attempts .empty").Length() != 1 {
		t.Error("the page does not show what the address says")
	}
}

func TestEndpointsListHasParts(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	n := w.tenant()
	for range 51 {
		n.must(201, http.MethodPost, "/endpoints", object{"url": somewhere})
	}
	p := w.get(w.home + "/endpoints")
	if got := p.Find("#endpoints tbody tr").Length(); got != 50 {
		t.Errorf("%d endpoints, want 50", got)
	}
	p = w.get(p.Find(`#endpoints .pager a[rel="next"]`).AttrOr("href", ""))
	if got := p.Find("#endpoints tbody tr").Length(); got != 1 || p.Find(`#endpoints .pager a[rel="next"]`).Length() != 0 {
		t.Errorf("%d older endpoints, want the one that is left", got)
	}
	if back := p.Find("#endpoints .pager a").AttrOr("href", ""); back != w.home+"/endpoints" {
		t.Errorf("%s does not lead back", back)
	}
	w.get(w.home + "/endpoints?after=x").wantStatus(http.StatusOK)
}

// sendOnce publishes an event and has it sent where it is asked for.
func (w *browser) sendOnce(sending *deliver.Service, endpoint string) {
	w.t.Helper()
	n := w.tenant()
	w.process(w.t, text(n.must(202, http.MethodPost, "/events", `{"type":"order.created","data":1}`), "id"))
	id, err := gateway.ParseID[gateway.EndpointID](endpoint)
	if err != nil {
		w.t.Fatal(err)
	}
	sending.Wake([]store.LaneRef{{AccountID: n.account, EndpointID: id}})
}

// withSending has a bundle send, and keeps with what.
func withSending(t *testing.T, kept **deliver.Service) func(*server.Deps) {
	return func(d *server.Deps) {
		*kept = d.Deliver
		ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
		var running sync.WaitGroup
		running.Go(func() { d.Deliver.Run(ctx) })
		t.Cleanup(func() { stop(); running.Wait() })
	}
}

// The page of an endpoint that is in trouble says since when and why, and has
// the button that mends it.
func TestEndpointPageSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	var sending *deliver.Service
	w := newBundle(t, withPages, withSending(t, &sending)).signedUp(t, "Acme")
	for status, wants := range map[int][]string{
		503: {"Failing since", "1 delivery is waiting", "The server answers 503 Service Unavailable.", "after 100 failures in a row, and has counted 1: at most one a second counts."},
		410: {"Disabled by Rowlock since", "the receiver answered 410 Gone", "1 delivery is held", "Fix the receiver, then resume: what is held goes on."},
	} {
		path := pathOf(w.addEndpoint(url.Values{"url": {receiving(t, status, "")}}))
		w.sendOnce(sending, idOf(page{path: path}))
		var p page
		pgtest.Until(t, "the endpoint is in trouble", func() bool {
			p = w.get(path)
			return p.Find("#trouble .callout").Length() == 1
		})
		told := strings.Join(strings.Fields(p.Find("#trouble").Text()), " ")
		for _, want := range wants {
			if !strings.Contains(told, want) {
				t.Errorf("%d: the page says %q, want %q", status, told, want)
			}
		}
		w.post(path+"/pause", url.Values{}).wantStatus(http.StatusSeeOther)
	}
}
