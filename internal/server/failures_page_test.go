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
	if p := w.get(w.home + "/failures"); p.Find("#none .empty").Length() != 1 || p.Find("#groups tbody tr").Length() != 0 {
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
	all53 := second.Find("header a[href*='/recover'], .actions a[href*='/recover']").AttrOr("href", "")
	w.get(all53).wantText("main footer", "Recover 53")
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

// failedInMenu is the number beside Failures in the navigation.
func (p page) failedInMenu() string {
	return strings.TrimSpace(p.Find(".nav-count").First().Text())
}

// What somebody has dismissed is not counted, says why, and is open again when
// it comes back, or when somebody wants it so.
func TestFailuresAreDismissed(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	n := w.failing()
	for _, endpoint := range []string{"down", "down", "gone"} {
		n.must(200, http.MethodPost, "/endpoints/"+endpoint+"/test", nil)
	}
	at := w.home + "/failures"
	p := w.get(at + "?group=none")
	if p.failedInMenu() != "3" {
		t.Errorf("%q are counted", p.failedInMenu())
	}
	link := p.Find("#groups a[href*='/failures/dismiss'][href*='cause=503']").AttrOr("href", "")
	question := w.get(link)
	if !strings.Contains(question.Find("form h1").Text(), "HTTP 503") || !strings.Contains(question.Find("form").Text(), "2 deliveries are not counted") {
		t.Errorf("asked: %s", question.Find("form").Text())
	}
	long := question.Find("form.dialog")
	fields := fieldsOf(long)
	fields.Set("note", strings.Repeat("é", 501))
	if again := w.post(at+"/dismiss", fields); again.status != http.StatusUnprocessableEntity || again.Find("#note[aria-invalid]").Length() != 1 {
		t.Errorf("a long note: %d", again.status)
	}
	fields.Set("note", "they <b>know</b>")
	back := w.follow(w.post(at+"/dismiss", fields))
	back.wantToast("Dismissed")
	if back.failedInMenu() != "1" || back.Find("#groups tbody tr").Length() != 1 || back.Find(".seg a[aria-current]").First().Text() != "Ungrouped" {
		t.Errorf("%q are counted, %d rows", back.failedInMenu(), back.Find("#groups tbody tr").Length())
	}
	w.follow(w.post(at+"/dismiss", fields)).wantToast("Dismissed") // the same is so already
	w.follow(w.get(link)).wantToast("Nothing to dismiss")
	dismissed := w.get(at + "?state=dismissed")
	if told := dismissed.Find("#groups tbody").Text(); !strings.Contains(told, "they <b>know</b>") || !strings.Contains(told, "Dismissed by") {
		t.Errorf("dismissed: %s", told)
	}
	if log := w.get(w.home).Find("main").Text(); !strings.Contains(log, "dismissed failures of") {
		t.Error("nobody is told who dismissed")
	}
	n.must(200, http.MethodPost, "/endpoints/down/test", nil)
	if p := w.get(at); p.failedInMenu() != "4" || !strings.Contains(p.Find("#groups").Text(), "Back") {
		t.Errorf("it came back, and %q are counted", p.failedInMenu())
	}
	w.follow(w.post(at+"/dismiss", fields)).wantToast("More failed while you looked")
	fields.Set("seen", "")
	w.follow(w.post(at+"/dismiss", fields)).wantToast("Dismissed")
	restore := fieldsOf(w.get(at + "?state=dismissed").Find("#groups form[action$='/failures/restore']").First())
	w.follow(w.post(at+"/restore", restore)).wantToast("Open again")
	w.follow(w.post(at+"/restore", restore)).wantToast("open already")
	if p := w.get(at); p.failedInMenu() != "4" {
		t.Errorf("opened again, and %q are counted", p.failedInMenu())
	}
}

// Whatever an address or a form says that names no failures changes nothing.
func TestDismissingNothing(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	n := w.failing()
	n.must(200, http.MethodPost, "/endpoints/gone/test", nil)
	id := text(n.must(200, http.MethodGet, "/endpoints/gone", nil), "id")
	for _, query := range []string{"", "?cause=x", "?endpoint=x", "?endpoint=" + id + "&cause=x", "?cause=connect&endpoint=x", "?cause=599"} {
		values, err := url.ParseQuery(strings.TrimPrefix(query, "?"))
		if err != nil {
			t.Fatal(err)
		}
		w.follow(w.get(w.home + "/failures/dismiss" + query)).wantToast("Nothing to dismiss")
		w.follow(w.post(w.home+"/failures/dismiss", values)).wantToast("Nothing to dismiss")
		w.follow(w.post(w.home+"/failures/restore", values)).wantToast("open")
	}
	if p := w.get(w.home + "/failures"); p.failedInMenu() != "1" {
		t.Errorf("%q are counted", p.failedInMenu())
	}
	watcher := w.newMember()
	if p := watcher.get(w.home + "/failures"); p.Find("#groups a[href*='/dismiss'], #groups a[href*='/recover']").Length() != 0 {
		t.Error("a member is offered to dismiss")
	}
	watcher.post(w.home+"/failures/dismiss", url.Values{"endpoint": {id}}).wantStatus(http.StatusForbidden)
	watcher.post(w.home+"/failures/restore", url.Values{"endpoint": {id}}).wantStatus(http.StatusForbidden)
}
