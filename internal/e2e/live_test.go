package e2e

import (
	"fmt"
	"net/http"
	"testing"
	"time"
)

// A list that is open tells what has come, and does not move: the reader asks
// for it.
func TestListsAreLive(t *testing.T) {
	t.Parallel()
	n := startNode(t, onDatabase(t, newDatabase(t, shared)))
	a := newPerson(t, n)
	publish := func(key string) {
		want[struct{}](t, a, http.StatusAccepted, http.MethodPost, "/events", fmt.Sprintf(`{"type":"order.created","key":%q,"data":1}`, key))
	}
	publish("first")
	b := newTab(t, n.url)
	b.logIn("owner@example.com")
	b.open(home(a) + "/events")
	const rows = `document.querySelectorAll('#events tbody tr').length`
	if got := eval[int](b, rows); got != 1 {
		t.Fatalf("the list has %d rows, want 1", got)
	}
	b.await("the page listens", `[...document.querySelectorAll('.live')].some((e) => e.innerText.includes('Live'))`)
	publish("second")
	publish("third")
	b.awaitText("2 new events")
	if got := eval[int](b, rows); got != 1 {
		t.Errorf("the list has %d rows before the reader asked, want 1", got)
	}
	b.press("2 new events")
	b.await("three rows", rows+" === 3")
}

// Attempts are counted from when the page was drawn, and the list stays.
func TestAttemptsAreLive(t *testing.T) {
	t.Parallel()
	n := startNode(t, onDatabase(t, newDatabase(t, shared)))
	a := newPerson(t, n)
	r := newReceiver(t, func() time.Duration { return 0 })
	want[endpointObject](t, a, http.StatusCreated, http.MethodPost, "/endpoints", fmt.Sprintf(`{"url":%q,"secret":%q}`, r.url+everything, r.secret))
	publish := func() {
		want[struct{}](t, a, http.StatusAccepted, http.MethodPost, "/events", `{"type":"order.created","data":1}`)
	}
	publish()
	waitFor(t, patience, "the first is recorded", func() bool {
		return len(list[deliveryObject](t, a, "/deliveries", "status=delivered")) == 1
	})
	b := newTab(t, n.url)
	b.logIn("owner@example.com")
	b.open(home(a) + "/attempts")
	b.await("the page listens", `[...document.querySelectorAll('.live')].some((e) => e.innerText.includes('Live'))`)
	publish()
	b.awaitText("1 new attempt")
	if got := eval[int](b, `document.querySelectorAll('main tbody tr').length`); got != 1 {
		t.Errorf("the list has %d rows before the reader asked, want 1", got)
	}
}

// The first steps tick themselves while somebody looks at them.
func TestFirstStepsAreLive(t *testing.T) {
	t.Parallel()
	n := startNode(t, onDatabase(t, newDatabase(t, shared)))
	a := newPerson(t, n)
	b := newTab(t, n.url)
	b.logIn("owner@example.com")
	b.awaitText("Waiting for the first event")
	want[struct{}](t, a, http.StatusAccepted, http.MethodPost, "/events", `{"type":"order.created","data":1}`)
	b.await("the line turns", `!document.body.innerText.includes('Waiting for the first event')`)
}
