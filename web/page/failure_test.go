package page_test

import (
	"strings"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/page"
)

func TestFailuresPageWithoutFailures(t *testing.T) {
	t.Parallel()
	v := page.Failures{Frame: framed(), Now: noon, Sent: 1234}
	d := drawn(t, page.FailuresPage(v))
	if !strings.Contains(d.Find("#none").Text(), "1,234 deliveries were confirmed") {
		t.Errorf("%s", d.Find("#none").Text())
	}
	v.Narrowed = true
	if d := drawn(t, page.FailuresPage(v)); d.Find("#none a").AttrOr("href", "") != "/a/acme/failures" {
		t.Error("the time cannot be widened")
	}
}

func TestFailuresPage(t *testing.T) {
	t.Parallel()
	old := noon.Add(-5 * 24 * time.Hour)
	for _, byCause := range []bool{false, true} {
		for _, n := range []int{1, 30} {
			v := page.Failures{
				Frame: framed(), Now: noon, ByCause: byCause, Failed: 10000, More: true, Oldest: &old, Today: 7, Yesterday: 4,
				Groups: []component.Choice{{Text: "By endpoint", Href: "/a/acme/failures", Current: true}}, Hidden: 2,
			}
			for range n {
				e := page.FailedEndpoint{Path: "/a/acme/endpoints/ep_1", Name: hostile, Place: hostile, State: gateway.EndpointDisabled}
				cause := gateway.Cause{StatusCode: 503}
				v.Cards = append(v.Cards, page.FailureCard{Endpoint: e, Cause: cause, Count: 3, Last: noon, Hidden: 1, Rows: []page.FailureRow{
					{Endpoint: e, Cause: cause, Detail: hostile, Count: 2, First: old, Last: noon, Href: "/a/acme/failures/ep_1?cause=503"},
					{Endpoint: e, Cause: gateway.Cause{ErrorKind: gateway.ErrorTimeout}, Count: 1, First: noon, Last: noon, Href: "/x"},
				}})
			}
			d := drawn(t, page.FailuresPage(v))
			if d.Find("#groups > .card").Length() != n || d.Find("#groups tbody tr").Length() != 2*n || d.Find("#none").Length() != 0 {
				t.Errorf("%d cards, %d rows", d.Find("#groups > .card").Length(), d.Find("#groups tbody tr").Length())
			}
			if text := d.Find(".stats").Text(); !strings.Contains(text, "10,000+") || !strings.Contains(text, "3 more") || !strings.Contains(text, "5 d") {
				t.Errorf("%s", text)
			}
		}
	}
}

func TestEveryCauseHasWords(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, kind := range []gateway.ErrorKind{
		gateway.ErrorDNS, gateway.ErrorConnect, gateway.ErrorTLS, gateway.ErrorTimeout,
		gateway.ErrorReset, gateway.ErrorBlocked, gateway.ErrorTooLarge, gateway.ErrorProtocol,
	} {
		seen[page.CauseName(gateway.Cause{ErrorKind: kind})] = true
	}
	if len(seen) != 8 || seen["Unknown"] {
		t.Errorf("%v", seen)
	}
	if got := page.CauseName(gateway.Cause{StatusCode: 599}); got != "HTTP 599" {
		t.Error(got)
	}
	if got := page.CauseName(gateway.Cause{}); got != "Unknown" {
		t.Error(got)
	}
}

func TestFailedListPage(t *testing.T) {
	t.Parallel()
	v := page.FailedList{
		Frame: framed(), Now: noon, Endpoint: page.FailedEndpoint{Name: hostile, Path: "/a/acme/endpoints/ep_1", State: gateway.EndpointPaused},
		Manages: true, Back: "/a/acme/failures/ep_1?cause=503",
	}
	if d := drawn(t, page.FailedListPage(v)); d.Find(".empty").Length() != 1 || !strings.Contains(d.Find(".callout").Text(), "paused") {
		t.Errorf("%s", d.Find("main").Text())
	}
	for range 50 {
		row := page.FailedRow{
			Href: "/a/acme/deliveries/dlv_1", EventID: "evt_1",
			EventType: hostile, Cause: gateway.Cause{ErrorKind: gateway.ErrorDNS}, Attempts: 8, CreatedAt: noon, ClosedAt: noon,
		}
		v.Rows = append(v.Rows, row)
	}
	d := drawn(t, page.FailedListPage(v))
	if d.Find("#failed tbody tr").Length() != 50 || d.Find("#failed form input[name='if_attempts'][value='8']").Length() != 50 {
		t.Error("rows or their forms are missing")
	}
	v.Manages = false
	if d := drawn(t, page.FailedListPage(v)); d.Find("#failed form").Length() != 0 {
		t.Error("a member is offered to send again")
	}
}
