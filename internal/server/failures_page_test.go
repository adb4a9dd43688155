package server_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// failing is an account with an endpoint that answers 503, and one at which
// nobody listens.
func (w *browser) failing() *tenant {
	w.t.Helper()
	down := httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, _ *http.Request) {
		answer.WriteHeader(http.StatusServiceUnavailable)
		_, _ = answer.Write([]byte("<b>closed</b> until noon"))
	}))
	w.t.Cleanup(down.Close)
	n := w.tenant()
	n.must(201, http.MethodPost, "/endpoints", object{"url": down.URL + "/orders", "uid": "down", "description": "ERP <script>"})
	n.must(201, http.MethodPost, "/endpoints", object{"url": somewhere, "uid": "gone"})
	return n
}

func TestFailuresAreGroupedAndSentAgain(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	w := b.signedUp(t, "Acme")
	if p := w.get(w.home + "/failures"); p.Find("#none .empty").Length() != 1 || p.Find("#groups .card").Length() != 0 {
		t.Error("nothing failed, and the page does not say so")
	}
	n := w.failing()
	for _, endpoint := range []string{"down", "down", "gone"} {
		n.must(200, http.MethodPost, "/endpoints/"+endpoint+"/test", nil)
	}
	p := w.get(w.home + "/failures")
	cards := p.Find("#groups .card")
	if cards.Length() != 2 || !strings.Contains(cards.Text(), "HTTP 503") || !strings.Contains(cards.Text(), "closed") || !strings.Contains(cards.Text(), "2 deliveries") {
		t.Errorf("%d groups: %s", cards.Length(), cards.Text())
	}
	if strings.Contains(p.text, "<script>alert") || strings.Contains(p.text, "<b>closed") {
		t.Error("what a receiver says is part of the page")
	}
	if by := w.get(w.home + "/failures?group=cause&since=24h").Find("#groups .card"); by.Length() != 2 || !strings.Contains(by.Text(), "ERP") {
		t.Errorf("by cause: %s", by.Text())
	}
	list := w.get(p.Find("#groups a[href*='cause=503']").AttrOr("href", ""))
	if list.Find("#failed tbody tr").Length() != 2 {
		t.Fatalf("%d failed deliveries: %s", list.Find("#failed tbody tr").Length(), list.Find("main").Text())
	}
	again := fieldsOf(list.Find("#failed form").First())
	action := list.Find("#failed form").AttrOr("action", "")
	back := w.follow(w.post(action, again))
	back.wantToast("sent again")
	if back.path != list.path || back.Find("#failed tbody tr").Length() != 1 {
		t.Errorf("back at %s with %d", back.path, back.Find("#failed tbody tr").Length())
	}
	w.follow(w.post(action, again)).wantToast("again") // a second press tells that it was done
	again.Set("next", "https://elsewhere.example")
	if p := w.post(action, again); strings.Contains(p.location, "elsewhere") {
		t.Error("the form leads away")
	}
}

func TestFailedListInParts(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withPages)
	w := b.signedUp(t, "Acme")
	n := w.failing()
	at := w.home + "/failures/" + text(n.must(200, http.MethodGet, "/endpoints/gone", nil), "id")
	if p := w.get(at); p.Find(".empty").Length() != 1 {
		t.Error("an empty list does not say so")
	}
	const all = 53
	for range all {
		n.must(200, http.MethodPost, "/endpoints/gone/test", nil)
	}
	first := w.get(at)
	second := w.get(first.Find(".pager a[rel='next']").AttrOr("href", ""))
	if a, b := first.Find("#failed tbody tr").Length(), second.Find("#failed tbody tr").Length(); a != 50 || b != all-50 {
		t.Errorf("parts of %d and %d", a, b)
	}
	if newest := second.Find(".pager a[rel='prev']").AttrOr("href", ""); newest != at {
		t.Errorf("back to the newest leads to %s", newest)
	}
	if p := w.get(at + "?cause=503"); p.Find("#failed tbody tr").Length() != 0 {
		t.Error("another cause has these too")
	}
}

func TestMembersCannotRedeliverFailures(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	n := w.failing()
	n.must(200, http.MethodPost, "/endpoints/gone/test", nil)
	at := w.home + "/failures/" + text(n.must(200, http.MethodGet, "/endpoints/gone", nil), "id")
	watcher := w.newMember()
	p := watcher.get(at)
	if p.status != http.StatusOK || p.Find("#failed tbody tr").Length() != 1 || p.Find("#failed form").Length() != 0 {
		t.Errorf("a member's list: %d", p.status)
	}
	delivery := p.Find("#failed a.cell").AttrOr("href", "")
	watcher.post(delivery+"/redeliver", url.Values{}).wantStatus(http.StatusForbidden)
}
