package page_test

import (
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/page"
)

// What an endpoint does right now, and what to do about what waits.
func TestEndpointPageNow(t *testing.T) {
	t.Parallel()
	v := endpointView()
	doc := drawn(t, page.EndpointPage(v))
	stats := doc.Find("#now .stat")
	for i, want := range []string{
		"Last 20 attempts 1 of 2 failed", "Waiting 164 12 due now, 152 later", "Oldest waiting 5h 16m the first is due for 3 s",
		"At once 4 of 64 starts low, one more with each success",
	} {
		if got := words(stats.Eq(i)); got != want {
			t.Errorf("number %d says %q, want %q", i, got, want)
		}
	}
	wantNumber(t, doc, "#now svg.ticks .t-bad", 1)
	wantWords(t, doc, "#now .card-foot", "152 deliveries wait for a later attempt, the next in 9 s.")
	wantNumber(t, doc, `#now a[href$="/send-now"][hx-target="#dialog"]`, 1)
	v.Manages, v.Operates = false, false
	wantNumber(t, drawn(t, page.EndpointPage(v)), `a[href$="/send-now"]`, 0)
	v.Operates, v.At = true, page.EndpointNow{}
	doc = drawn(t, page.EndpointPage(v))
	wantNumber(t, doc, `a[href$="/send-now"]`, 0)
	wantWords(t, doc, "#now", "Waiting 0 none Oldest waiting – nothing waits")
}

// The in-flight cap says why it is as it is.
func TestEndpointPageSaysHowMuchAtOnce(t *testing.T) {
	t.Parallel()
	later, before := endpointNow.Add(8*time.Second), endpointNow.Add(-12*time.Second)
	for want, c := range map[string]struct {
		flow  gateway.Flow
		cause *gateway.Cause
		rate  int
	}{
		"64 of 64 as many as it may have":                                            {gateway.Flow{Cap: 64}, nil, 0},
		"64 of 64 paced to 10 a second; as many as it may have":                      {gateway.Flow{Cap: 64}, nil, 10},
		"4 of 64 halved after a timeout 12 s ago, one more with each success":        {gateway.Flow{Cap: 4, TimingOut: true, NarrowedAt: before}, nil, 0},
		"4 of 64 halved after an answer of 503 12 s ago, one more with each success": {gateway.Flow{Cap: 4, NarrowedAt: before}, &gateway.Cause{StatusCode: 503}, 0},
		"4 of 64 halved after “Refused” 12 s ago, one more with each success":        {gateway.Flow{Cap: 4, NarrowedAt: before}, &gateway.Cause{ErrorKind: gateway.ErrorConnect}, 0},
		"4 of 64 halved after trouble 12 s ago, one more with each success":          {gateway.Flow{Cap: 4, NarrowedAt: before}, nil, 0},
		"1 of 64 one probe at a time, the next in 9 s":                               {gateway.Flow{Cap: 1, FailedProbes: 3, SleepUntil: later}, nil, 0},
		"1 of 64 one probe at a time, until one is answered":                         {gateway.Flow{Cap: 1, FailedProbes: 3, SleepUntil: before}, nil, 0},
		"1 of 64 paced to 10 a second; one probe at a time, until one is answered":   {gateway.Flow{FailedProbes: 3}, nil, 10},
	} {
		v := endpointView()
		v.At.Flow, v.At.Trouble, v.Endpoint.RatePerSecond = c.flow, c.cause, c.rate
		wantWords(t, drawn(t, page.EndpointPage(v)), "#now", "At once "+want)
	}
}

// What failed before somebody resumed the endpoint can be tried with one.
func TestEndpointPageOffersToSendOneFirst(t *testing.T) {
	t.Parallel()
	v := endpointView()
	v.Recover = "/a/acme/endpoints/ep_1/recover?since=x"
	v.Resumed = &page.EndpointResumed{At: endpointNow.Add(-2 * time.Minute), Failed: 164, Send: "/a/acme/deliveries/dlv_1/redeliver", Attempts: 8}
	doc := drawn(t, page.EndpointPage(v))
	wantWords(t, doc, "#resumed", "Resumed 2 m ago. 164 deliveries had failed before.")
	wantNumber(t, doc, `#resumed form[action="/a/acme/deliveries/dlv_1/redeliver"] input[name="if_attempts"][value="8"]`, 1)
	wantNumber(t, doc, `a[href="/a/acme/endpoints/ep_1/recover?since=x"][hx-target="#dialog"]`, 1)
	v.Manages, v.Operates = false, false
	wantNumber(t, drawn(t, page.EndpointPage(v)), "#resumed", 0)
}

func TestEndpointPageFailures(t *testing.T) {
	t.Parallel()
	v := endpointView()
	wantNumber(t, drawn(t, page.EndpointPage(v)), "#failures", 0)
	v.Failures = failedCard(page.FailureActs{View: "/view", Recover: "/recover", Dismiss: "/dismiss"})
	doc := drawn(t, page.EndpointPage(v))
	wantNumber(t, doc, "#failures tbody tr", 2)
	wantNumber(t, doc, `#failures a[href="/recover"]`, 2)
	wantWords(t, doc, "#failures", "Timeout No answer in time 1 delivery")
}

func TestEndpointPageSettings(t *testing.T) {
	t.Parallel()
	v := endpointView()
	e := &v.Endpoint
	e.Filter, e.RatePerSecond, e.Signature, e.Auth, e.StopOn = "body.total > 100 && '<b>'", 10, gateway.SignatureEd25519, gateway.AuthBasic, []int{400, 422}
	v.Failover = page.FailedEndpoint{Path: "/a/acme/endpoints/ep_2", Name: hostile}
	doc := drawn(t, page.EndpointPage(v))
	for _, want := range []string{
		"Filter body.total > 100 && '<b>'", "Rate at most 10 a second", "Signature Key pair (v1a, Ed25519)", "Authorization User name and password (basic)",
		"No retry after 400, 422", "In flight at most 64",
	} {
		wantWords(t, doc, "#settings", want)
	}
	wantNumber(t, doc, `#settings a[href="/a/acme/endpoints/ep_2"]`, 1)
}

func TestEndpointState(t *testing.T) {
	t.Parallel()
	at := func(ago time.Duration, outcome gateway.Outcome) gateway.Attempt {
		return gateway.Attempt{StartedAt: endpointNow.Add(-ago), Outcome: outcome, Trigger: gateway.TriggerAuto}
	}
	failed := []gateway.Attempt{at(time.Hour, gateway.OutcomeRejected), at(time.Minute, gateway.OutcomeUnreachable), at(time.Second, gateway.OutcomeSucceeded)}
	tested := at(time.Minute, gateway.OutcomeRejected)
	tested.Trigger = gateway.TriggerTest
	active := gateway.Endpoint{State: gateway.EndpointActive}
	for name, c := range map[string]struct {
		endpoint gateway.Endpoint
		recent   []gateway.Attempt
		want     string
	}{
		"nothing":             {active, nil, "active"},
		"some failed":         {active, failed, page.StateDegraded},
		"one failed":          {active, failed[1:], "active"},
		"long ago":            {active, []gateway.Attempt{at(25*time.Hour, gateway.OutcomeRejected), at(26*time.Hour, gateway.OutcomeRejected)}, "active"},
		"tests failed":        {active, []gateway.Attempt{tested, tested, tested}, "active"},
		"unknown":             {active, []gateway.Attempt{at(0, gateway.OutcomeUnknown), at(0, gateway.OutcomeUnknown)}, "active"},
		"before it resumed":   {gateway.Endpoint{State: gateway.EndpointActive, StateChangedAt: endpointNow.Add(-30 * time.Second)}, failed, "active"},
		"failing":             {gateway.Endpoint{State: gateway.EndpointActive, ConsecutiveFailures: 1}, failed, page.StateFailing},
		"paused, then failed": {gateway.Endpoint{State: gateway.EndpointPaused, ConsecutiveFailures: 1}, failed, "paused"},
	} {
		if got := page.EndpointState(c.endpoint, c.recent, endpointNow); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// The list offers what can be done to each endpoint in its state.
func TestEndpointsPageMenus(t *testing.T) {
	t.Parallel()
	waits, paused := endpointRow(1), endpointRow(2)
	paused.State = "paused"
	v := page.Endpoints{Frame: framed(), Manages: true, Operates: true, Rows: []page.EndpointRow{waits, paused}}
	doc := drawn(t, page.EndpointsPage(v))
	for row, want := range map[string][]string{
		endpointID(1).String(): {"/test", "/edit", "/send-now", "/pause", "/delete"},
		endpointID(2).String(): {"/test", "/edit", "/delete"},
	} {
		items := doc.Find("#" + row + " .menu a.menu-item")
		if items.Length() != len(want) {
			t.Errorf("%s has %d items, want %v", row, items.Length(), want)
		}
		for _, path := range want {
			wantNumber(t, doc, `#`+row+` a[href="/a/acme/endpoints/`+row+path+`"]`, 1)
		}
	}
	wantNumber(t, doc, "#"+endpointID(2).String()+` form[method="post"][action$="/resume"]`, 1)
	v.Manages, v.Operates = false, false
	wantNumber(t, drawn(t, page.EndpointsPage(v)), ".menu .menu-item[href*='/endpoints/']", 0)
}
