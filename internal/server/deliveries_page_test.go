package server_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
)

func (p page) attemptsListed() (listed []string) {
	p.t.Helper()
	for _, row := range p.Find("#attempts tbody tr").EachIter() {
		listed = append(listed, row.AttrOr("id", ""))
	}
	return listed
}

// tried makes attempts of deliveries to an endpoint, newest first.
func (n *tenant) tried(endpoint string, times int) (attempts []string) {
	n.t.Helper()
	for range times {
		attempts = append([]string{text(n.must(200, http.MethodPost, "/endpoints/"+endpoint+"/test", nil), "id")}, attempts...)
	}
	return attempts
}

func TestDeliveriesPageIsEmptyAtFirst(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	p := w.get(w.home + "/deliveries")
	p.wantStatus(http.StatusOK)
	p.wantText("#deliveries", "Nothing was sent yet")
	w.get(w.home+"/attempts").wantText("#attempts", "Nothing was sent yet")
}

func TestAttemptsAreFiltered(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	n := w.tenant()
	good := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(good.Close)
	busy := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(http.StatusServiceUnavailable) }))
	t.Cleanup(busy.Close)
	first := n.must(201, http.MethodPost, "/endpoints", object{"url": good.URL, "uid": "good"})
	n.must(201, http.MethodPost, "/endpoints", object{"url": busy.URL, "uid": "busy"})
	n.must(201, http.MethodPost, "/endpoints", object{"url": somewhere, "uid": "gone"})
	ok, no, none := n.tried("good", 1), n.tried("busy", 1), n.tried("gone", 1)
	all := slices.Concat(none, no, ok)
	for query, want := range map[string][]string{
		"":                                  all,
		"outcome=rejected":                  no,
		"outcome=unreachable":               none,
		"cause=connect":                     none,
		"cause=timeout":                     nil,
		"code=503":                          no,
		"code=2xx":                          ok,
		"code=2xx&outcome=rejected":         nil,
		"code=nonsense":                     nil,
		"code=503&cause=connect":            nil,
		"endpoint=" + text(first, "id"):     ok,
		"endpoint=nonsense":                 nil,
		"outcome=nonsense&cause=nonsense":   all,
		"after=nonsense":                    all,
		"after=99999999999999999999-att_x":  all,
		"code=%00":                          nil,
		"until=2020-01-01T00:00":            nil,
		"since=2020-01-01T00:00&range=junk": all,
	} {
		p := w.get(w.home + "/attempts?" + query)
		p.wantStatus(http.StatusOK)
		if got := p.attemptsListed(); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %v, want %v", query, got, want)
		}
	}
}

func TestAttemptsComeInPages(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	n := w.tenant()
	n.must(201, http.MethodPost, "/endpoints", object{"url": somewhere, "uid": "e"})
	want := n.tried("e", 52)
	p := w.get(w.home + "/attempts?outcome=unreachable")
	got := p.attemptsListed()
	p = w.get(p.hrefs(".pager a[rel=next]")[0])
	if got = append(got, p.attemptsListed()...); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if newest := p.hrefs(".pager a[rel=prev]"); len(newest) != 1 || newest[0] != w.home+"/attempts?outcome=unreachable" {
		t.Errorf("back leads to %v", newest)
	}
	row := w.get(w.home + "/attempts").hrefs("#attempts a.cell")[0]
	p = w.get(row)
	p.wantStatus(http.StatusOK)
	_, anchor, _ := strings.Cut(row, "#")
	if open := p.Find("#" + anchor); open.Length() != 1 || !has(open, "open") {
		t.Errorf("%s shows no open attempt", row)
	}
}

func TestRedeliverADelivery(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	n := w.tenant()
	n.must(201, http.MethodPost, "/endpoints", object{"url": somewhere, "uid": "e", "description": "ERP sync"})
	failed := text(n.must(200, http.MethodPost, "/endpoints/e/test", nil), "delivery_id")
	path := w.home + "/deliveries/" + failed
	p := w.get(path)
	p.wantText("h1", "ERP sync")
	p.wantText("h1 .badge", "Failed")
	p.wantText("main", "Given up after 1 attempt.")
	p.wantText("#attempts", "Refused")
	button := "form[action='" + path + "/redeliver']"
	w.follow(w.submit(p, button, nil)).wantToast("It is sent again now.")
	// Who presses what they saw before the other's press made an attempt.
	for _, seen := range []string{"0", "-1", "99999999999"} {
		w.follow(w.submit(p, button, url.Values{"if_attempts": {seen}})).wantToast("it has changed since you looked")
	}
	w.follow(w.submit(p, button, url.Values{"if_attempts": {"many"}})).wantToast("Press the button once more")
	p = w.submit(p, button, url.Values{"next": {"//elsewhere.example/"}})
	if p.location != path {
		t.Errorf("it leads to %s", p.location)
	}
	ask := w.get(path + "/redeliver")
	ask.wantText("form.dialog", "with the same webhook-id")
	if got := fieldsOf(ask.Find("form.dialog")).Get("if_attempts"); got != "1" {
		t.Errorf("the question holds %q attempts", got)
	}
}

func TestCancelADelivery(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	n := w.tenant()
	n.must(201, http.MethodPost, "/endpoints", object{"url": somewhere, "uid": "e"})
	path := w.home + "/deliveries/" + text(n.newDelivery("e"), "id")
	if w.get(path).Find("a[href='"+path+"/cancel']").Length() != 1 {
		t.Error("nothing leads to the question")
	}
	ask := w.get(path + "/cancel")
	w.follow(w.submit(ask, "form.dialog", nil)).wantToast("The delivery was cancelled.")
	p := w.follow(w.submit(ask, "form.dialog", nil))
	p.wantToast("Not cancelled: it is Cancelled already.")
	p.wantText("h1 .badge", "Cancelled")
}

func TestHeldDeliveryWaits(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	n := w.tenant()
	n.must(201, http.MethodPost, "/endpoints", object{"url": somewhere, "uid": "e"})
	d := n.newDelivery("e")
	n.must(200, http.MethodPost, "/endpoints/e/pause", nil)
	path := w.home + "/deliveries/" + text(d, "id")
	w.get(path).wantText("main", "Held: the endpoint is paused.")
	w.follow(w.post(path+"/redeliver", url.Values{})).wantToast("gets it when it is resumed")
	w.get(w.home+"/events/"+text(d, "event_id")).wantText("#timeline", "It goes on when somebody resumes it.")
	w.get(w.home+"/events/"+text(d, "event_id")).wantText("#deliveries", "goes on when resumed")
}
