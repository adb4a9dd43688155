package server_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/rowlock/rowlock/internal/deliver"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/pgtest"
	"github.com/rowlock/rowlock/internal/store"
)

// withFailures is an account with an endpoint that failed twice with 503, and
// one that failed once since nobody listens.
func withFailures(t *testing.T) *tenant {
	t.Helper()
	n := newBundle(t).newTenant(t)
	down := httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, _ *http.Request) {
		answer.WriteHeader(http.StatusServiceUnavailable)
	}))
	t.Cleanup(down.Close)
	n.must(201, http.MethodPost, "/endpoints", object{"url": down.URL, "uid": "down"})
	n.must(201, http.MethodPost, "/endpoints", object{"url": somewhere, "uid": "gone"})
	for _, endpoint := range []string{"down", "down", "gone"} {
		n.must(200, http.MethodPost, "/endpoints/"+endpoint+"/test", nil)
	}
	return n
}

func TestFailuresAreGroupedForPrograms(t *testing.T) {
	t.Parallel()
	n := withFailures(t)
	list := n.must(200, http.MethodGet, "/failures", nil)
	all := entries(list)
	if len(all) != 2 || list["truncated"] != false || list["next_cursor"] != nil {
		t.Fatalf("%v", list)
	}
	if f := all[0]; f["status_code"] != 503.0 || f["outcome"] != "rejected" || f["count"] != 2.0 || f["error_kind"] != nil || f["delivery_id"] == nil || f["dismissal"] != nil {
		t.Errorf("%v", f)
	}
	if f := all[1]; f["error_kind"] != "connect" || f["outcome"] != "unreachable" || f["count"] != 1.0 || f["oldest_event_at"] == nil {
		t.Errorf("%v", f)
	}
	n.must(200, http.MethodPost, "/endpoints/down/test", nil)
	for query, want := range map[string]int{
		"?endpoint=gone": 1, "?group=endpoint": 2, "?group=cause": 2, "?state=retrying": 0, "?state=dismissed": 0, "?since=2100-01-01T00:00:00Z": 0,
	} {
		if got := entries(n.must(200, http.MethodGet, "/failures"+query, nil)); len(got) != want {
			t.Errorf("%s: %v", query, got)
		}
	}
	byCause := entries(n.must(200, http.MethodGet, "/failures?group=cause", nil))[0]
	parts := byCause["parts"].([]any)
	if byCause["endpoint_id"] != nil || byCause["status_code"] != 503.0 || byCause["count"] != 3.0 || len(parts) != 1 {
		t.Errorf("by cause: %v", byCause)
	}
	byEndpoint := entries(n.must(200, http.MethodGet, "/failures?group=endpoint", nil))[0]
	if byEndpoint["endpoint_id"] == nil || byEndpoint["status_code"] != nil || byEndpoint["outcome"] != nil {
		t.Errorf("by endpoint: %v", byEndpoint)
	}
	for _, wrong := range []string{"?group=x", "?state=x", "?endpoint=nobody", "?since=x"} {
		n.refused(422, "invalid", http.MethodGet, "/failures"+wrong, nil)
	}
}

func TestFailuresAreDismissedByPrograms(t *testing.T) {
	t.Parallel()
	n := withFailures(t)
	seen := text(entries(n.must(200, http.MethodGet, "/failures?endpoint=down", nil))[0], "last_at")
	answer := n.must(200, http.MethodPost, "/failures/dismiss", object{"endpoint": "down", "status_code": 503, "note": "known", "until": seen})
	if d := entries(answer)[0]["dismissal"].(object); d["note"] != "known" || d["until"] != seen || !strings.HasPrefix(text(d, "actor"), "key_") {
		t.Errorf("%v", d)
	}
	open := func(want int) {
		t.Helper()
		if got := entries(n.must(200, http.MethodGet, "/failures", nil)); len(got) != want {
			t.Errorf("%d are open, want %d: %v", len(got), want, got)
		}
	}
	open(1)
	n.must(200, http.MethodPost, "/endpoints/down/test", nil)
	open(2)
	n.must(200, http.MethodPost, "/failures/dismiss", object{"endpoint": "down", "until": seen})
	open(2)
	n.must(200, http.MethodPost, "/failures/dismiss", object{"endpoint": "down"})
	n.must(200, http.MethodPost, "/failures/dismiss", object{"error_kind": "connect"})
	open(0)
	for body, want := range map[string]float64{`{"endpoint":"down"}`: 1, `{"error_kind":"connect"}`: 1, `{"error_kind":"unknown"}`: 0, `{"error_kind":"disabled"}`: 0} {
		if got := n.must(200, http.MethodPost, "/failures/restore", body); got["restored"] != want {
			t.Errorf("%s: %v", body, got)
		}
	}
	open(2)
	for body, where := range map[string]string{
		`{}`: "body.endpoint", `{"endpoint":"nobody"}`: "body.endpoint", `{"error_kind":"slow"}`: "body.error_kind",
		`{"endpoint":"down","error_kind":"dns","status_code":503}`: "body.status_code", `{"status_code":99}`: "body.status_code",
		`{"endpoint":"down","until":"yesterday"}`: "body.until", `{"endpoint":"down","note":"` + strings.Repeat("x", 501) + `"}`: "body.note",
	} {
		if p := n.refused(422, "invalid", http.MethodPost, "/failures/dismiss", body); !strings.Contains(text(p, "detail"), where) {
			t.Errorf("%s: %v", body, p)
		}
	}
}

// Whoever names another account's endpoint or cause changes nothing there.
func TestFailuresOfAnotherAccount(t *testing.T) {
	t.Parallel()
	n := withFailures(t)
	stranger := n.newTenant(t)
	id := text(n.must(200, http.MethodGet, "/endpoints/down", nil), "id")
	stranger.refused(422, "invalid", http.MethodPost, "/failures/dismiss", `{"endpoint":"down"}`)
	for _, body := range []object{{"endpoint": id}, {"status_code": 503}} {
		if got := entries(stranger.must(200, http.MethodPost, "/failures/dismiss", body)); len(got) != 0 {
			t.Errorf("%v: %v", body, got)
		}
		if got := stranger.must(200, http.MethodPost, "/failures/restore", body); got["restored"] != 0.0 {
			t.Errorf("%v: %v", body, got)
		}
	}
	if got := entries(n.must(200, http.MethodGet, "/failures", nil)); len(got) != 2 {
		t.Errorf("%v", got)
	}
}

// failedOnce is a delivery that has failed once and waits for its next attempt.
func (n *tenant) failedOnce(sending *deliver.Service, endpoint string) {
	n.t.Helper()
	id, err := gateway.ParseID[gateway.EndpointID](text(n.must(200, http.MethodGet, "/endpoints/"+endpoint, nil), "id"))
	if err != nil {
		n.t.Fatal(err)
	}
	at := "/deliveries/" + text(n.newDelivery(endpoint), "id")
	sending.Wake([]store.LaneRef{{AccountID: n.account, EndpointID: id}})
	pgtest.Until(n.t, "the delivery has failed once", func() bool {
		d := n.must(200, http.MethodGet, at, nil)
		return d["attempt_count"] == 1.0 && d["status"] == "pending"
	})
}

func TestSendEndpointNow(t *testing.T) {
	t.Parallel()
	var sending *deliver.Service
	n := newBundle(t, withSending(t, &sending)).newTenant(t)
	n.must(201, http.MethodPost, "/endpoints", object{"url": receiving(t, 503, ""), "uid": "e"})
	if got := n.must(200, http.MethodPost, "/endpoints/e/send-now", nil); got["due"] != 0.0 {
		t.Errorf("%v", got)
	}
	n.failedOnce(sending, "e")
	if all := entries(n.must(200, http.MethodGet, "/failures?state=retrying", nil)); len(all) != 1 || all[0]["next_attempt_at"] == nil {
		t.Errorf("retrying: %v", all)
	}
	if got := n.must(200, http.MethodPost, "/endpoints/e/send-now", `{}`); got["due"] != 1.0 {
		t.Errorf("%v", got)
	}
	n.must(200, http.MethodPost, "/endpoints/e/pause", nil)
	n.refused(409, "state_changed", http.MethodPost, "/endpoints/e/send-now", nil)
	n.refused(404, "not_found", http.MethodPost, "/endpoints/nobody/send-now", nil)
}

// The button for what waits says how many that is, and is answered once.
func TestSendEndpointNowFromItsPage(t *testing.T) {
	t.Parallel()
	var sending *deliver.Service
	w := newBundle(t, withPages, withSending(t, &sending)).signedUp(t, "Acme")
	path := pathOf(w.addEndpoint(url.Values{"url": {receiving(t, 503, "")}}))
	w.follow(w.get(path + "/send-now")).wantToast("Nothing waits here")
	w.tenant().failedOnce(sending, idOf(page{path: path}))
	p := w.get(path)
	if told := tidy(p.Find("#now").Text()); !strings.Contains(told, "1 delivery waits for a later attempt") || !strings.Contains(told, "halved after an answer of 503") {
		t.Errorf("the page says %q", told)
	}
	retrying := w.get(w.home + "/failures?state=retrying")
	if retrying.Find("#groups a[href='"+path+"/send-now']").Length() != 1 {
		t.Error("what is retried cannot be sent from the failures")
	}
	question := w.get(p.Find(`#now a[href$="/send-now"]`).AttrOr("href", ""))
	if b := question.Find("form.dialog button[type='submit']").Text(); !strings.Contains(b, "Send 1 now") {
		t.Errorf("the button says %q", b)
	}
	w.follow(w.submit(question, "form.dialog", nil)).wantToast("1 delivery is due now")
	w.post(path+"/pause", url.Values{}).wantStatus(http.StatusSeeOther)
	w.follow(w.get(path + "/send-now")).wantToast("Nothing is sent to it")
	w.follow(w.post(path+"/send-now", url.Values{})).wantToast("Nothing is sent to it")
	w.newMember().post(path+"/send-now", url.Values{}).wantStatus(http.StatusForbidden)
}

// What was retried at an endpoint that is paused is not due: it is held, and
// goes on from the failures.
func TestRetriesAreHeld(t *testing.T) {
	t.Parallel()
	var sending *deliver.Service
	w := newBundle(t, withPages, withSending(t, &sending)).signedUp(t, "Acme")
	path := pathOf(w.addEndpoint(url.Values{"url": {receiving(t, 503, "")}}))
	w.tenant().failedOnce(sending, idOf(page{path: path}))
	w.post(path+"/pause", url.Values{}).wantStatus(http.StatusSeeOther)
	p := w.get(w.home + "/failures?state=retrying")
	p.wantText("#groups", "held: its endpoint is paused")
	p.wantText("#numbers", "held: paused or disabled")
	w.follow(w.submit(p, "#groups form[action='"+path+"/resume']", nil)).wantToast("Resumed.")
}

// After it is resumed, an endpoint's page offers to try one of what failed.
func TestResumeOffersToSendOneFirst(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	path := pathOf(w.addEndpoint(url.Values{"url": {receiving(t, 503, "")}}))
	p := w.sendTests(path, 2)
	if p.Find("#resumed").Length() != 0 || p.Find("#failures tbody tr").Length() != 1 {
		t.Error("nothing was resumed")
	}
	w.post(path+"/pause", url.Values{}).wantStatus(http.StatusSeeOther)
	p = w.follow(w.post(path+"/resume", url.Values{}))
	if told := tidy(p.Find("#resumed").Text()); !strings.Contains(told, "Resumed just now. 2 deliveries had failed before.") {
		t.Errorf("the page says %q", told)
	}
	back := w.follow(w.submit(p, "#resumed form", nil))
	back.wantToast("sent again")
	if back.path != path {
		t.Errorf("it leads to %s", back.path)
	}
}

// tidy is a text as people read it.
func tidy(text string) string { return strings.Join(strings.Fields(text), " ") }
