package server_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/rowlock/rowlock/internal/gateway"
)

// run has the operation that an answer leads to run to its end, and returns the
// path of its page.
func (w *browser) run(p page) string {
	w.t.Helper()
	p.wantStatus(http.StatusSeeOther)
	text, ok := strings.CutPrefix(p.location, w.home+"/operations/")
	id, err := gateway.ParseID[gateway.OperationID](text)
	if !ok || err != nil {
		w.t.Fatalf("the answer leads to %s", p.location)
	}
	if err := w.operate.Run(w.t.Context(), w.tenant().account, id); err != nil {
		w.t.Fatal(err)
	}
	return p.location
}

// withFailed makes an endpoint with deliveries that have failed.
func (n *tenant) withFailed(count int) (deliveries []string) {
	n.t.Helper()
	n.must(201, http.MethodPost, "/endpoints", object{"url": somewhere, "uid": "e", "description": "ERP sync"})
	for range count {
		deliveries = append(deliveries, text(n.must(200, http.MethodPost, "/endpoints/e/test", nil), "delivery_id"))
	}
	return deliveries
}

func TestRecoverPage(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	failed := w.tenant().withFailed(3)
	ask := w.home + "/endpoints/e/recover"
	p := w.get(ask)
	p.wantText("main", "3 deliveries were given up.")
	p.wantText("main", "0 events in that time were never made for this endpoint.")
	p.wantText("main footer", "Recover 3")
	for query, want := range map[string]string{
		"code=503":                        "Nothing to recover in this time.",
		"kind=connect":                    "3 deliveries match.",
		"kind=unknown":                    "Nothing to recover in this time.",
		"since=2020-01-01T00:00:00Z":      "3 deliveries match.",
		"since=junk":                      "3 deliveries match.",
		"since_delivery=" + failed[0]:     "3 deliveries match.",
		"what=missing":                    "Nothing to recover in this time.",
		"what=both&per_second=1":          "About 3 s.",
		"what=junk&per_second=junk":       "3 deliveries match.",
		"since=custom&from=2020-01-01":    "3 deliveries match.",
		"since=custom&from=2999-01-01T00": "3 deliveries match.",
	} {
		p := w.get(ask + "?" + query)
		p.wantStatus(http.StatusOK)
		if text := p.Find("main").Text(); !strings.Contains(text, want) {
			t.Errorf("%s: %s", query, text)
		}
	}
	p = w.submit(p, "main form", url.Values{"since": {"custom"}, "from": {"yesterday"}})
	p.wantStatus(http.StatusUnprocessableEntity)
	p.wantText("#from-error", "Enter a date and a time.")
	path := w.run(w.submit(w.get(ask), "main form", nil))
	p = w.get(path)
	p.wantText("h1 .badge", "Done")
	p.wantText("h2", "3 of 3 deliveries")
	p.wantText("main", "To ERP sync, of events since")
	list := p.hrefs("#operation .actions a")
	all := w.submit(w.get(ask), "main form", url.Values{"since": {"all"}})
	w.get(all.location).wantText("main .lede", "To ERP sync.")
	if len(list) != 2 || w.get(list[1]).Find("#deliveries tbody tr").Length() != 3 {
		t.Errorf("next: %v", list)
	}
	w.get(w.home+"/operations").wantText("#operations", "Recover failed deliveries")
	w.submit(w.get(ask), "main form", url.Values{"what": {"both"}}).wantStatus(http.StatusSeeOther)
	w.get(w.home+"/operations").wantText("#operations", "Create missing deliveries")
}

// Somebody tries one before the others.
func TestSendOneBeforeTheOthers(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	failed := w.tenant().withFailed(2)
	ask := w.home + "/endpoints/e/recover"
	p := w.submit(w.get(ask), "main form", url.Values{"first": {"1"}})
	if p.location != w.home+"/deliveries/"+failed[1] {
		t.Errorf("leads to %s, want the newest, %s", p.location, failed[1])
	}
	w.follow(p).wantToast("One is sent now.")
	w.follow(w.submit(w.get(ask), "main form", url.Values{"first": {"1"}, "what": {"failed"}, "code": {"503"}, "kind": {""}})).
		wantToast("Not sent: nothing has failed in that time.")
	if n := len(entries(w.tenant().must(200, http.MethodGet, "/operations", nil))); n != 0 {
		t.Errorf("%d operations were started", n)
	}
}

// deliveriesListed are the deliveries on a page of the list.
func (p page) deliveriesListed() (listed []string) {
	p.t.Helper()
	for _, row := range p.Find("#deliveries tbody tr").EachIter() {
		listed = append(listed, row.AttrOr("id", ""))
	}
	return listed
}

func TestDeliveriesAreListed(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	n := w.tenant()
	failed := n.withFailed(2)
	slices.Reverse(failed)
	open := text(n.newDelivery("e"), "id")
	event := text(n.must(200, http.MethodGet, "/deliveries/"+open, nil), "event_id")
	for query, want := range map[string][]string{
		"":                      {open, failed[0], failed[1]},
		"status=failed":         failed,
		"status=pending":        {open},
		"status=held":           nil,
		"status=junk":           {open, failed[0], failed[1]},
		"outcome=unreachable":   failed,
		"cause=connect":         failed,
		"code=503":              nil,
		"event=" + event:        {open},
		"event=junk":            nil,
		"operation=junk":        nil,
		"after=" + failed[0]:    failed[1:],
		"until=2020-01-01T00:0": {open, failed[0], failed[1]},
	} {
		p := w.get(w.home + "/deliveries?" + query)
		p.wantStatus(http.StatusOK)
		if got := p.deliveriesListed(); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", query, got, want)
		}
	}
	p := w.get(w.home + "/deliveries")
	if boxes := p.Find("#deliveries tbody input[type=checkbox]").Length(); boxes != 2 {
		t.Errorf("%d can be chosen, want what is closed", boxes)
	}
	p.wantText("#chosen-bar", "all 2 closed ones that match")
	w.get(w.home+"/deliveries?status=failed").wantText("#chosen-bar", "all 2 that match")
	if w.get(w.home+"/deliveries?status=pending").Find("#chosen-bar").Length() != 0 {
		t.Error("what is open can be chosen")
	}
	if b := w.newMember(); b.get(w.home+"/deliveries").Find("#chosen-bar, .check").Length() != 0 {
		t.Error("a member who may change nothing can choose")
	}
}

// Several that were chosen are sent again, and all that match.
func TestRedeliverSeveral(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	failed := w.tenant().withFailed(3)
	ask := w.home + "/deliveries/redeliver"
	p := w.get(ask + "?id=" + failed[0] + "&id=" + failed[2] + "&id=junk")
	p.wantText("main h1", "Redeliver 2 deliveries?")
	p.wantText("main footer", "Redeliver 2")
	p = w.get(w.run(w.submit(p, "main form", nil)))
	p.wantText("h1", "Redeliver 2 deliveries")
	p.wantText("h2", "2 of 2 deliveries")
	p = w.get(w.get(w.home + "/deliveries?status=failed").hrefs("#chosen-bar a")[0])
	p.wantText("main footer", "Redeliver 1")
	p = w.get(w.run(w.submit(p, "main form", url.Values{"per_second": {"5"}})))
	p.wantText("h2", "1 of 1 delivery")
	p.wantText("main", "Failed")
	for _, query := range []string{"status=pending", "endpoint=junk", "endpoint=ep_06h1m3v9c8x7k2q5n4t6w8y0zz", ""} {
		p := w.get(ask + "?" + query)
		p.wantStatus(http.StatusOK)
		if !has(p.Find("main footer button[type=submit]"), "disabled") {
			t.Errorf("%s: can be sent", query)
		}
		w.follow(w.submit(p, "main form", nil)).wantToast("Not s")
	}
}

func TestStopPage(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	w.tenant().withFailed(2)
	p := w.submit(w.get(w.home+"/endpoints/e/recover"), "main form", nil)
	path := p.location
	w.get(path).wantText("h1 .badge", "Counting")
	p = w.get(path + "/stop")
	p.wantText("main", "Stop this operation?")
	w.follow(w.submit(p, "main form", nil)).wantToast("Stopped.")
	w.follow(w.submit(p, "main form", nil)).wantToast("it had ended before")
	p = w.get(path)
	p.wantText("h1 .badge", "Stopped")
	p.wantText("main", "Stopped by ")
	rest := p.hrefs("#operation .actions a[href*='/recover']")
	if len(rest) != 1 {
		t.Fatalf("what is left cannot be recovered: %v", rest)
	}
	w.get(rest[0]).wantText("main footer", "Recover 2")
	if p := w.get(path + "/stop"); p.location != path {
		t.Errorf("one that has ended is asked about: %d %s", p.status, p.location)
	}
}

func TestProcessSeveral(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	n := w.tenant()
	w.process(t, n.publish(`{"type":"a.b","data":1}`), n.publish(`{"type":"a.c","data":1}`))
	list := w.get(w.home + "/events?status=no_endpoints&type=a.b")
	ask := list.hrefs("main .head .actions > a")
	if len(ask) != 1 {
		t.Fatalf("the list offers %v", ask)
	}
	p := w.get(ask[0])
	p.wantText("main", "1 event matches.")
	p = w.get(w.run(w.submit(p, "main form", nil)))
	p.wantText("h1", "Process events again")
	p.wantText("h2", "1 of 1 event")
	for _, query := range []string{"", "?status=processed", "?status=rule_error&status=no_endpoints", "?status=no_endpoints&key=x"} {
		if got := w.get(w.home + "/events" + query).hrefs("main .head .actions > a"); len(got) != 0 {
			t.Errorf("%s offers %v", query, got)
		}
	}
	p = w.get(w.home + "/events/process?status=processed")
	w.follow(w.submit(p, "main form", nil)).wantToast("Not started")
}
