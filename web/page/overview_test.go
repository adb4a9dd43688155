package page_test

import (
	"strings"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/page"
)

// overview is that of an account with traffic.
func overview() page.Overview {
	v := page.Overview{Frame: framed(), Now: noon, Range: "24 h", Per: "15 minutes", Chart: page.EndpointChart{Ranges: []component.Choice{{Text: "24h", Href: "/a/acme?range=24h", Current: true}}}}
	for range 96 {
		v.Chart.Bins = append(v.Chart.Bins, component.Bin{Label: "29 Nov, 16:30 UTC", OK: 900, Retry: 20, Bad: 3})
	}
	return v
}

func TestOverviewOfAQuietAccount(t *testing.T) {
	t.Parallel()
	v := page.Overview{Frame: framed(), Now: noon, Quiet: true, Start: &page.Start{Person: "Mara", Manages: true, Publish: "curl https://hooks.example.com/api/v1/events"}}
	d := drawn(t, page.OverviewPage(v))
	wantWords(t, d, "h1", "Welcome, Mara")
	wantNumber(t, d, "#start .steps > li", 4)
	wantNumber(t, d, "#start .steps > li[data-done]", 0)
	wantNumber(t, d, "#start a[href='/a/acme/sources/new'][data-variant=primary]", 1)
	wantWords(t, d, "#publish", "curl https://hooks.example.com/api/v1/events")
	wantWords(t, d, "#start [role=status]", "Waiting for the first event")
	wantWords(t, d, "#figures", "No traffic yet")
	wantNumber(t, d, "#troubled, #activity, .chart, #ingest", 0)

	v.Start.Manages = false
	wantNumber(t, drawn(t, page.OverviewPage(v)), "#start .steps a, #start a[href$='/settings/keys']", 0)
}

func TestFirstStepsTickThemselves(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		start page.Start
		done  int
		now   string
	}{
		"nothing":           {page.Start{}, 0, "Add a source"},
		"a source":          {page.Start{Source: true}, 1, "Add an endpoint"},
		"an endpoint alone": {page.Start{Endpoint: true}, 1, "Add a source"},
		"both":              {page.Start{Source: true, Endpoint: true}, 2, "Receive the first event"},
		"by the API":        {page.Start{Endpoint: true, Event: true}, 3, "Deliver it"},
		"no endpoint":       {page.Start{Event: true}, 2, "Add an endpoint"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := overview()
			v.Start = &tt.start
			d := drawn(t, page.OverviewPage(v))
			wantNumber(t, d, "#start .steps > li[data-done]", tt.done)
			wantWords(t, d, "#start .steps > li[data-now] h3", tt.now)
			wantWords(t, d, "h1", "Overview")
		})
	}
}

func TestOverviewShowsWhereASourceTakesRequests(t *testing.T) {
	t.Parallel()
	v := overview()
	v.Start = &page.Start{Source: true, Ingest: page.StartSource{Name: "Shop", Kind: "stripe", URL: "https://hooks.example.com/ingest/abc", Path: "/a/acme/sources/src_1"}}
	wantWords(t, drawn(t, page.OverviewPage(v)), "#ingest code", "https://hooks.example.com/ingest/abc")
}

func TestOverviewNumbers(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		n    page.OverviewNumbers
		want [4]string
	}{
		"nothing": {page.OverviewNumbers{}, [4]string{
			"Success – no attempts in 24 h", "p95 latency – no answers in 24 h", "Events received 0 in 24 h", "Waiting to be sent 0 no failed deliveries",
		}},
		"the first": {page.OverviewNumbers{Attempts: 3, Succeeded: 2, P95: 412 * time.Millisecond, Received: 1, Waiting: 1}, [4]string{
			"Success 66.7 % of 3 attempts", "p95 latency 412 ms 19 of 20 answers took no longer", "Events received 1 in 24 h", "Waiting to be sent 1",
		}},
		"worse": {page.OverviewNumbers{
			Attempts: 1000, Succeeded: 980, BeforeAttempts: 1000, BeforeSucceeded: 1000, P95: 1200 * time.Millisecond, BeforeP95: 400 * time.Millisecond,
			Received: 48_213, BeforeReceived: 24_106, Waiting: 1000, WaitingMore: true, Failed: 99, FailedMore: true, Held: 7,
		}, [4]string{
			"Success 98 % 2.0 pts vs previous 24 h", "p95 latency 1.2 s 800 ms vs previous 24 h", "Events received 48,213 100 % vs previous 24 h",
			"Waiting to be sent 1,000+ 99+ failed, 7 held",
		}},
		"better": {page.OverviewNumbers{
			Attempts: 10, Succeeded: 10, BeforeAttempts: 10, BeforeSucceeded: 5, P95: 100 * time.Millisecond, BeforeP95: 200 * time.Millisecond, Received: 5, BeforeReceived: 10,
		}, [4]string{"Success 100 % 50.0 pts vs", "p95 latency 100 ms 100 ms vs", "Events received 5 50 % vs", "Waiting to be sent 0"}},
		"the same": {page.OverviewNumbers{
			Attempts: 10, Succeeded: 5, BeforeAttempts: 20, BeforeSucceeded: 10, P95: 100 * time.Millisecond, BeforeP95: 101 * time.Millisecond, Received: 10, BeforeReceived: 10,
		}, [4]string{"Success 50 % as in the 24 h before", "p95 latency 100 ms as in", "Events received 10 in 24 h", ""}},
		"nearly all":  {page.OverviewNumbers{Attempts: 1_000_000, Succeeded: 999_999, Received: 10_000, ReceivedMore: true}, [4]string{"Success 99.99 %", "", "Events received 10,000+ in 24 h", ""}},
		"nearly none": {page.OverviewNumbers{Attempts: 1_000_000, Succeeded: 1}, [4]string{"Success 0.1 %", "", "", ""}},
		"none":        {page.OverviewNumbers{Attempts: 10}, [4]string{"Success 0 %", "", "", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := overview()
			v.Numbers = tt.n
			d := drawn(t, page.OverviewPage(v))
			for i, want := range tt.want {
				if got := words(d.Find("#figures .stat").Eq(i)); !strings.HasPrefix(got, want) {
					t.Errorf("number %d says %q, want %q", i, got, want)
				}
			}
		})
	}
}

func TestOverviewLeadsToFailuresOnlyWhenThereAreSome(t *testing.T) {
	t.Parallel()
	for failed, want := range map[int]string{0: "/a/acme/endpoints", 1: "/a/acme/failures"} {
		v := overview()
		v.Numbers = page.OverviewNumbers{Waiting: 3, Failed: failed}
		if got := drawn(t, page.OverviewPage(v)).Find("#figures .stat").Eq(3).Find("a").AttrOr("href", ""); got != want {
			t.Errorf("with %d failed deliveries, what waits leads to %q", failed, got)
		}
	}
}

func TestOverviewTellsThatNoEndpointAskedForTheFirstEvent(t *testing.T) {
	t.Parallel()
	v := overview()
	v.Start = &page.Start{Endpoint: true, Event: true, Newest: "/a/acme/events/evt_2", Unasked: "/a/acme/events/evt_1"}
	d := drawn(t, page.OverviewPage(v))
	wantWords(t, d, "#start .steps > li[data-now]", "The first event came before an endpoint asked for it.")
	wantWords(t, d, "#start .steps a[href='/a/acme/events/evt_1']", "Open it")
	wantWords(t, d, "#start [role=status] a[href='/a/acme/events/evt_2']", "Look at it")

	v.Start.Unasked = ""
	d = drawn(t, page.OverviewPage(v))
	wantWords(t, d, "#start .steps > li[data-now]", "until your endpoint confirms it")
	wantNumber(t, d, "#start .steps a", 0)
}

func TestOverviewOfEndpointsThatDoNotFail(t *testing.T) {
	t.Parallel()
	for want, calm := range map[string]page.Calm{
		"There is no endpoint yet, so nothing can be sent.":  {Sent: true},
		"Nothing was sent yet.":                              {Endpoints: 2},
		"None fails. One is paused: nothing is sent to it.":  {Endpoints: 2, Paused: 1, Resumed: true},
		"None fails. 2 are paused: nothing is sent to them.": {Endpoints: 2, Paused: 2, Resumed: true, Sent: true},
		"None. No endpoint is failing or disabled.":          {Endpoints: 2, Resumed: true, Sent: true},
		"None. Every endpoint’s last attempt succeeded.":     {Endpoints: 2, Sent: true},
	} {
		v := overview()
		v.Calm = calm
		d := drawn(t, page.OverviewPage(v))
		wantWords(t, d, "#troubled p", want)
		ticks := 0
		if strings.HasPrefix(want, "None. ") {
			ticks = 1
		}
		wantNumber(t, d, "#troubled p .text-ok", ticks)
	}
}

// troubled is an endpoint whose last attempt failed.
func troubled(name string) page.TroubledEndpoint {
	return page.TroubledEndpoint{
		Name: name, Address: "erp.example.com/hook", Path: "/a/acme/endpoints/ep_1", State: "failing", Since: noon.Add(-time.Hour), Attempts: 10, Succeeded: 6,
		Recent: []gateway.Outcome{gateway.OutcomeSucceeded, gateway.OutcomeUnknown, gateway.OutcomeRejected},
		Code:   503,
	}
}

func TestOverviewTellsWhichEndpointsNeedAttention(t *testing.T) {
	t.Parallel()
	v := overview()
	noAnswer, stopped := troubled("Warehouse"), troubled("POS")
	noAnswer.Code, noAnswer.Failure, noAnswer.Tone = 0, "Timeout", component.ToneBad
	stopped.State, stopped.Code, stopped.Reason, stopped.Recent, stopped.Attempts = "disabled", 0, "the receiver answered 410 Gone", nil, 0
	v.Troubled, v.MoreTroubled = []page.TroubledEndpoint{troubled("ERP"), noAnswer, stopped}, true
	d := drawn(t, page.OverviewPage(v))
	for i, want := range []string{
		"ERP erp.example.com/hook 60% 503 since 1 h ago", "Warehouse erp.example.com/hook 60% Timeout",
		"POS erp.example.com/hook – Disabled the receiver answered 410 Gone",
	} {
		if got := words(d.Find("#troubled tbody tr").Eq(i)); !strings.HasPrefix(got, want) {
			t.Errorf("row %d says %q, want %q", i, got, want)
		}
	}
	wantWords(t, d, "#troubled .card-foot", "There are more.")
	if got := d.Find("#troubled .ticks").First().AttrOr("aria-label", ""); got != "2 of the last 3 attempts to ERP failed" {
		t.Errorf("the marks say %q", got)
	}
}

func TestOverviewShortensWhatWasDone(t *testing.T) {
	t.Parallel()
	v, text := overview(), strings.Repeat("x", 10_000)
	v.Activity = []page.Activity{
		{Who: text, Did: "paused", What: text, Path: "/a/acme/endpoints/ep_1", At: noon},
		{Who: text, Key: true, Did: "let go", What: text, At: noon},
	}
	d := drawn(t, page.OverviewPage(v))
	wantNumber(t, d, "#activity li", 2)
	wantNumber(t, d, "#activity li a", 1)
	if size := len(words(d.Find("#activity"))); size > 500 {
		t.Errorf("two lines have %d characters", size)
	}
}

func TestOverviewOfBusyTypes(t *testing.T) {
	t.Parallel()
	v := overview()
	v.BusiestIn = "in the last 24 h"
	wantWords(t, drawn(t, page.OverviewPage(v)), "#busiest", "Nothing came in.")
	v.Busiest = []page.BusyType{{Type: "order.created", Href: "/a/acme/events?type=order.created", Events: 300, All: 400}, {Type: "a.b", Href: "/x", Events: 1, All: 0}}
	d := drawn(t, page.OverviewPage(v))
	wantWords(t, d, "#busiest a[href='/a/acme/events?type=order.created']", "order.created")
	wantWords(t, d, "#busiest li:first-child", "75 %")
	wantNumber(t, d, "#busiest li", 2)
}

func TestOverviewOfStuckClaims(t *testing.T) {
	t.Parallel()
	v := overview()
	wantWords(t, drawn(t, page.OverviewPage(v)), "#stuck", "None.")
	v.Stuck = 7
	v.StuckClaims = []page.ClaimRow{{Key: "ord_1", Href: "/a/acme/claims/clm_1", Scope: "mails", LeaseExpiresAt: noon.Add(-41 * time.Minute), Reclaim: "/a/acme/claims/clm_1/reclaim"}}
	d := drawn(t, page.OverviewPage(v))
	wantWords(t, d, "#stuck .badge", "7 ended")
	wantWords(t, d, "#stuck", "Oldest: 41 m")
	wantNumber(t, d, "#stuck a[href='/a/acme/claims/clm_1'], #stuck a[href='/a/acme/claims/clm_1/reclaim'], #stuck a[href='/a/acme/claims?state=lease_ended']", 3)
}

// A bar leads to what came in meanwhile.
func TestOverviewBarsLeadSomewhere(t *testing.T) {
	t.Parallel()
	v := overview()
	v.Chart.Bins[0].Href = "/a/acme/events?since=2026-11-29T16:30"
	wantNumber(t, drawn(t, page.OverviewPage(v)), "#figures a.bin[href='/a/acme/events?since=2026-11-29T16:30']", 1)
}
