package page_test

import (
	"strings"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/page"
)

func TestFailuresPageWithoutFailures(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		view page.Failures
		want string
	}{
		"nothing":   {page.Failures{State: page.FailuresOpen, Sent: 1234}, "1,234 deliveries were confirmed"},
		"all seen":  {page.Failures{State: page.FailuresOpen, Numbers: page.FailureNumbers{Dismissed: 3}}, "All that failed was dismissed"},
		"retrying":  {page.Failures{State: page.FailuresRetrying}, "Nothing is being retried"},
		"dismissed": {page.Failures{State: page.FailuresDismissed}, "Nothing is dismissed"},
		"narrowed":  {page.Failures{State: page.FailuresOpen, Narrowed: true, Wider: "/a/acme/failures?group=cause"}, "Show all time"},
	} {
		c.view.Frame, c.view.Now = framed(), noon
		d := drawn(t, page.FailuresPage(c.view))
		if !strings.Contains(d.Find("#none").Text(), c.want) {
			t.Errorf("%s: %s", name, d.Find("#none").Text())
		}
		if c.view.Narrowed && d.Find("#none a").AttrOr("href", "") != c.view.Wider {
			t.Error("the time cannot be widened")
		}
	}
}

// failedCard is a card of two rows, full of what receivers can say.
func failedCard(does page.FailureActs) page.FailureCard {
	old := noon.Add(-5 * 24 * time.Hour)
	e := page.FailedEndpoint{Path: "/a/acme/endpoints/ep_1", Name: hostile, Place: hostile, State: gateway.EndpointDisabled}
	down, slow := gateway.Cause{StatusCode: 503}, gateway.Cause{ErrorKind: gateway.ErrorTimeout}
	return page.FailureCard{Endpoint: e, Cause: down, Count: 3, Last: noon, Hidden: 1, Does: does, Rows: []page.FailureRow{
		{Endpoint: e, Cause: down, Detail: hostile, Count: 2, First: old, Last: noon, Trend: []float64{0, 3, 1}, Does: does},
		{
			Endpoint: e, Cause: slow, Count: 1, First: noon, Last: noon, Next: &noon, Does: does,
			Dismissal: &page.FailureDismissal{By: hostile, Note: hostile, At: old},
		},
	}}
}

func TestFailuresPage(t *testing.T) {
	t.Parallel()
	old := noon.Add(-5 * 24 * time.Hour)
	does := page.FailureActs{View: "/view", Recover: "/recover", Dismiss: "/dismiss"}
	for _, group := range []string{page.ByEndpoint, page.ByCause, page.Ungrouped} {
		for _, n := range []int{1, 30} {
			v := page.Failures{
				Frame: framed(), Now: noon, State: page.FailuresOpen, Group: group, Manages: true, Hidden: 2,
				Numbers: page.FailureNumbers{Open: 9000, Dismissed: 1000, Retrying: 7, FailedMore: true, Affected: 3, Newest: &old, Next: &noon},
			}
			for range n {
				v.Cards = append(v.Cards, failedCard(does))
			}
			d := drawn(t, page.FailuresPage(v))
			if d.Find("#groups > .card").Length() != n || d.Find("#groups tbody tr").Length() != 2*n || d.Find("#none").Length() != 0 {
				t.Errorf("%d cards, %d rows", d.Find("#groups > .card").Length(), d.Find("#groups tbody tr").Length())
			}
			if text := d.Find("#groups").Text(); !strings.Contains(text, "after it was dismissed ") {
				t.Error("words stick together")
			}
			if text := d.Find("#numbers").Text(); !strings.Contains(text, "9,000+") || !strings.Contains(text, "5 d ago") || !strings.Contains(text, "the next is due") {
				t.Errorf("%s", text)
			}
			heads := n
			if group == page.Ungrouped {
				heads = 0
			}
			for link, want := range map[string]int{"/recover": 2*n + heads, "/dismiss": 2*n + heads, "/view": 4 * n} {
				if got := d.Find("#groups a[href='" + link + "']").Length(); got != want {
					t.Errorf("%s: %d links to %s, want %d", group, got, link, want)
				}
			}
			if d.Find("#groups svg.spark[role='img']").Length() != n {
				t.Error("the trends are not drawn")
			}
			v.Manages = false
			if d := drawn(t, page.FailuresPage(v)); d.Find("#groups a[href='/recover'], #groups a[href='/dismiss']").Length() != 0 {
				t.Error("a member is offered to change something")
			}
		}
	}
}

// What was dismissed says by whom and why, and can be opened again; what came
// back says that too.
func TestDismissedFailures(t *testing.T) {
	t.Parallel()
	card := failedCard(page.FailureActs{Restore: &page.FailureRestore{Action: "/restore", Endpoint: "ep_1", Cause: "503", Next: "/next"}})
	v := page.Failures{Frame: framed(), Now: noon, State: page.FailuresDismissed, Group: page.ByEndpoint, Manages: true}
	v.Cards = []page.FailureCard{card}
	told := drawn(t, page.FailuresPage(v)).Find("#groups").Text()
	if !strings.Contains(told, "Back") || strings.Contains(told, "Dismissed by") {
		t.Errorf("%s", told)
	}
	v.Cards[0].Rows[1].Dismissed = true
	d := drawn(t, page.FailuresPage(v))
	if told := d.Find("#groups").Text(); !strings.Contains(told, "Dismissed by") || strings.Contains(told, "Back") {
		t.Errorf("%s", told)
	}
	if n := d.Find("#groups form[action='/restore'] input[name='cause'][value='503']").Length(); n != 3 {
		t.Errorf("%d forms open it again", n)
	}
}

func TestDismissQuestion(t *testing.T) {
	t.Parallel()
	q := page.DismissQuestion{
		Action: "/dismiss", Cancel: "/back", Title: "Dismiss " + hostile + "?", Count: 1200, Endpoint: "ep_1", Cause: "503", Seen: "then",
		Entered: hostile, Heading: true, Errors: page.Errors{"note": "Too long."},
	}
	d := drawn(t, page.DismissAsk(q))
	if !strings.Contains(d.Find("button[type='submit']").Text(), "Dismiss 1,200") || d.Find("#note[aria-invalid]").AttrOr("value", "") == "" {
		t.Errorf("%s", d.Text())
	}
	for name, want := range map[string]string{"endpoint": "ep_1", "cause": "503", "seen": "then", "next": "/back"} {
		if got := d.Find("input[type='hidden'][name='"+name+"']").AttrOr("value", ""); got != want {
			t.Errorf("%s is %q", name, got)
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
