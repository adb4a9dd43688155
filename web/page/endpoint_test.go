package page_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/page"
)

func TestEndpointPageWithoutAttempts(t *testing.T) {
	t.Parallel()
	v := endpointView()
	v.Numbers, v.Chart.Bins = page.EndpointNumbers{}, nil
	doc := drawn(t, page.EndpointPage(v))
	wantWords(t, doc, "h1", "ERP sync Active")
	wantWords(t, doc, "#attempts .empty", "No attempts yet")
	wantWords(t, doc, "#numbers", "no attempts")
	wantNumber(t, doc, "#trouble .callout", 0)
	wantNumber(t, doc, "#tested", 0)
	at := "/a/acme/endpoints/" + endpointID(1).String()
	for _, action := range []string{"test", "pause", "rotate", "delete"} {
		if doc.Find(`a[href="`+at+"/"+action+`"][hx-target="#dialog"]`).Length() == 0 {
			t.Errorf("nothing asks to %s", action)
		}
	}
	wantWords(t, doc, "#settings", "3 attempts: after 5 s, 5 m (the server’s)")
	wantWords(t, doc, "#settings", "15 s (the server’s)")
	wantWords(t, doc, "#settings", "X-Token")
	if strings.Contains(doc.Text(), "s3cret") {
		t.Error("the page shows a header's value")
	}
}

func TestEndpointPageNumbers(t *testing.T) {
	t.Parallel()
	doc := drawn(t, page.EndpointPage(endpointView()))
	stats := doc.Find("#numbers .stat")
	for i, want := range []string{
		"Success, 24h 61.3 % 37.7 pts lower", "p95 latency 212 ms 88 ms faster", "Delivered 613 of 1,000 attempts", "Given up 9 7 more than before",
	} {
		if got := words(stats.Eq(i)); got != want {
			t.Errorf("number %d says %q, want %q", i, got, want)
		}
	}
	wantNumber(t, doc, `#numbers .seg a[aria-current]`, 1)
	wantNumber(t, doc, `#numbers .chart .f-bad`, 1)
}

func TestEndpointPageAttempts(t *testing.T) {
	t.Parallel()
	v := endpointView()
	outcomes := gateway.Outcomes
	for n := range 25 {
		a := page.EndpointAttempt{Attempt: endpointAttempt(n, outcomes[n%len(outcomes)]), EventType: "order.created"}
		v.Attempts.Rows = append(v.Attempts.Rows, a)
	}
	v.Attempts.Rows[1].Trigger = gateway.TriggerTest
	v.Attempts.Rows[2].EventType = ""
	v.Attempts.Rows[3].N = 300
	v.Attempts.Older = "/a/acme/endpoints/x?after=y"
	doc := drawn(t, page.EndpointPage(v))
	wantNumber(t, doc, "#attempts tbody tr", 25)
	for n, want := range []string{
		"200 OK order.created 1 of 8 125 ms", "503 Service Unavailable order.created Test", "Timeout Event that is no longer kept 3 of 8", "Unknown order.created 300 125 ms",
	} {
		wantWords(t, doc, "#"+v.Attempts.Rows[n].ID().String(), want)
	}
	wantNumber(t, doc, `#attempts .pager a[rel="next"]`, 1)
	link := doc.Find("#attempts tbody a.cell").First().AttrOr("href", "")
	if want := "/a/acme/deliveries/" + v.Attempts.Rows[0].DeliveryID.String() + "?attempt=1#" + v.Attempts.Rows[0].ID().String(); link != want {
		t.Errorf("an attempt leads to %s, want %s", link, want)
	}
}

func TestEndpointPageWhenNoAttemptMatches(t *testing.T) {
	t.Parallel()
	v := endpointView()
	v.Attempts.Filtered = true
	doc := drawn(t, page.EndpointPage(v))
	wantWords(t, doc, "#attempts .empty", "No attempt matches")
	wantNumber(t, doc, `#attempts .empty a[href="/all"]`, 1)
	v.Attempts.Newest = "/newest"
	doc = drawn(t, page.EndpointPage(v))
	wantWords(t, doc, "#attempts .empty", "No older attempts")
	wantNumber(t, doc, `#attempts .pager a[href="/newest"]`, 1)
}

func TestEndpointPageSecrets(t *testing.T) {
	t.Parallel()
	v := endpointView()
	ends := endpointNow.Add(41*time.Minute + 38*time.Second)
	current, previous := gateway.SecretID{1}, gateway.SecretID{2}
	v.Secrets[0].Value = "whsec_shownonce"
	v.Secrets = append(v.Secrets, page.EndpointSecret{ID: previous, EndsAt: &ends, CreatedAt: endpointNow.Add(-48 * time.Hour), Replaced: endpointNow.Add(-time.Hour)})
	doc := drawn(t, page.EndpointPage(v))
	at := "/a/acme/endpoints/" + endpointID(1).String() + "/secrets/" + previous.String()
	wantWords(t, doc, "#"+current.String(), "Current since 15:20 UTC whsec_shownonce")
	wantNumber(t, doc, "#"+current.String()+` [data-copy="whsec_shownonce"]`, 1)
	wantWords(t, doc, "#"+previous.String(), "Previous still signs for 41m 38s")
	wantNumber(t, doc, "#"+previous.String()+" .meter", 1)
	wantNumber(t, doc, `form[method="post"][action="`+at+`/reveal"]`, 1)
	wantNumber(t, doc, `a[href="`+at+`/end"]`, 1)

	v.Manages, v.Operates = false, false
	v.Secrets = v.Secrets[:1]
	v.Secrets[0].Value = ""
	doc = drawn(t, page.EndpointPage(v))
	wantNumber(t, doc, "main form", 0)
	wantNumber(t, doc, "main a[hx-get]", 0)
	wantNumber(t, doc, `main a[href$="/edit"]`, 0)
	wantWords(t, doc, "#secrets", "An admin or an owner")
}

func TestEndpointPageTrouble(t *testing.T) {
	t.Parallel()
	v := endpointView()
	v.Endpoint.State = gateway.EndpointDisabled
	v.Trouble = &page.EndpointTrouble{Tone: component.ToneBad, Title: "Disabled since 11:04 UTC.", Text: hostile, Resume: true}
	doc := drawn(t, page.EndpointPage(v))
	wantWords(t, doc, "#trouble", "Disabled since 11:04 UTC.")
	wantNumber(t, doc, `#trouble form[method="post"][action$="/resume"] button`, 1)
	wantWords(t, doc, "#now", "Held 164 until it is resumed")
	wantWords(t, doc, "#now", "At once 0 nothing is sent")
	v.Manages, v.Operates = false, false
	doc = drawn(t, page.EndpointPage(v))
	wantNumber(t, doc, "#trouble form", 0)
	v.Trouble.Resume = false
	doc = drawn(t, page.EndpointPage(v))
	wantNumber(t, doc, `#trouble a[href="/a/acme/deliveries?endpoint=`+endpointID(1).String()+`"]`, 1)
}

func TestEndpointPageShowsATestsAnswer(t *testing.T) {
	t.Parallel()
	v := endpointView()
	a := endpointAttempt(1, gateway.OutcomeRejected)
	a.ResponseHeaders = gateway.EncodeHeaders(map[string][]string{"X-Hostile": {"<script>alert(1)</script>"}})
	a.ResponseBody = []byte(`{"error":"<script>\u202e` + "\u202e\x00" + `"}`)
	v.Test = &page.EndpointTest{Attempt: a, EventType: "order.created"}
	doc := drawn(t, page.EndpointPage(v))
	wantWords(t, doc, "#tested", "The endpoint answered the test event with 503 Service Unavailable in 125 ms.")
	wantWords(t, doc, "#tested .hdrs", "X-Hostile <script>alert(1)</script>")
	wantNumber(t, doc, "#tested .code", 1)
	v.Test.Attempt = endpointAttempt(1, gateway.OutcomeUnreachable)
	doc = drawn(t, page.EndpointPage(v))
	wantWords(t, doc, "#tested", "The test event did not get through. No complete answer within 15 s.")
	wantNumber(t, doc, "#tested details", 0)
}

func TestScheduleText(t *testing.T) {
	t.Parallel()
	for want, waits := range map[string][]time.Duration{
		"One attempt, no retries":        {},
		"2 attempts: after 5 s":          {5 * time.Second},
		"3 attempts: after 5 m, 1h 30m":  {5 * time.Minute, 90 * time.Minute},
		"3 attempts: after 100 ms, 10 h": {100 * time.Millisecond, 10 * time.Hour},
	} {
		if got := page.ScheduleText(waits); got != want {
			t.Errorf("%v is %q, want %q", waits, got, want)
		}
	}
}

func TestClockText(t *testing.T) {
	t.Parallel()
	for want, at := range map[string]time.Time{
		"11:04 UTC":             time.Date(2026, 11, 29, 11, 4, 59, 0, time.UTC),
		"28 Nov, 23:59 UTC":     time.Date(2026, 11, 29, 0, 59, 0, 0, time.FixedZone("x", 3600)),
		"1 Dec 2025, 00:00 UTC": time.Date(2025, 12, 1, 0, 0, 0, 0, time.UTC),
	} {
		if got := page.ClockText(at, endpointNow); got != want {
			t.Errorf("%s is %q, want %q", at, got, want)
		}
	}
}

// The numbers of an endpoint are compared with the time before.
func TestEndpointPageCompares(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		n             page.EndpointNumbers
		success, took string
	}{
		"nothing before": {page.EndpointNumbers{Attempts: 2, Succeeded: 1, P95: time.Second}, "50 % nothing to compare with", "1 s nothing to compare with"},
		"the same":       {page.EndpointNumbers{Attempts: 2, Succeeded: 2, BeforeAttempts: 9, BeforeSucceeded: 9, P95: time.Second, BeforeP95: 990 * time.Millisecond}, "100 % as in the 24h before", "1 s as in the 24h before"},
		"better":         {page.EndpointNumbers{Attempts: 1000, Succeeded: 999, BeforeAttempts: 2, BeforeSucceeded: 1, P95: time.Minute, BeforeP95: 2 * time.Minute}, "99.9 % 49.9 pts higher", "1 m 1 m faster"},
		"all failed":     {page.EndpointNumbers{Attempts: 5, BeforeAttempts: 5, BeforeSucceeded: 5}, "0 % 100.0 pts lower", "– no answers"},
		"nearly nothing": {page.EndpointNumbers{Attempts: 100_000, Succeeded: 1, BeforeAttempts: 100_000, BeforeSucceeded: 1, P95: 2 * time.Second, BeforeP95: time.Second}, "0.1 % as in", "2 s 1 s slower"},
	} {
		v := endpointView()
		v.Numbers = c.n
		stats := drawn(t, page.EndpointPage(v)).Find("#numbers .stat")
		if got := words(stats.Eq(0)); !strings.HasPrefix(got, "Success, 24h "+c.success) {
			t.Errorf("%s: %q", name, got)
		}
		if got := words(stats.Eq(1)); got != fmt.Sprintf("p95 latency %s", c.took) {
			t.Errorf("%s: %q", name, got)
		}
	}
}
