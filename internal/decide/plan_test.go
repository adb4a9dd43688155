package decide

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// Ids of these tests.
var (
	acme, other   = gateway.AccountID{0: 1}, gateway.AccountID{0: 2}
	active, still = gateway.SourceID{0: 1}, gateway.SourceID{0: 2}
)

func event(n byte, account gateway.AccountID, eventType string) store.Undecided {
	return store.Undecided{ID: gateway.EventID{0: n}, AccountID: account, SourceID: active, Type: eventType, BodySize: 10 * int(n)}
}

func candidate(n byte, account gateway.AccountID, patterns ...string) store.Candidate {
	return store.Candidate{ID: gateway.EndpointID{0: n}, AccountID: account, EventTypes: patterns}
}

// route is who gets what: an event's and an endpoint's number.
type route [2]byte

func routes(deliveries []store.NewDelivery) []route {
	got := []route{}
	for _, d := range deliveries {
		got = append(got, route{d.EventID[0], d.EndpointID[0]})
	}
	return got
}

func TestPlanRoutes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		eventType string
		patterns  [][]string // of endpoint 1, 2, …
		want      []route
	}{
		"nobody is there":            {"order.created", nil, []route{}},
		"no patterns ask for all":    {"order.created", [][]string{nil, {}}, []route{{1, 1}, {1, 2}}},
		"star asks for all":          {"order.created", [][]string{{"*"}}, []route{{1, 1}}},
		"the type itself":            {"order.created", [][]string{{"order.created"}, {"order.updated"}}, []route{{1, 1}}},
		"a prefix":                   {"order.line.added", [][]string{{"order.*"}, {"order.line.*"}, {"order.line.added.*"}, {"orde.*"}}, []route{{1, 1}, {1, 2}}},
		"a prefix is not its own":    {"order", [][]string{{"order.*"}}, []route{}},
		"one of several":             {"b", [][]string{{"a", "b", "c"}}, []route{{1, 1}}},
		"several match, one is sent": {"a.b", [][]string{{"a.b", "a.*", "*"}}, []route{{1, 1}}},
		"case counts":                {"order.created", [][]string{{"Order.Created"}}, []route{}},
		"own, by star or by nothing": {"rowlock.endpoint.disabled", [][]string{{"*"}, nil}, []route{}},
		"own, by name":               {"rowlock.endpoint.disabled", [][]string{{"rowlock.*"}, {"rowlock.endpoint.*"}, {"rowlock.endpoint.disabled"}}, []route{{1, 1}, {1, 2}, {1, 3}}},
		"own, by name beside a star": {"rowlock.test", [][]string{{"*", "rowlock.test"}}, []route{{1, 1}}},
		"looks like own":             {"rowlocks.test", [][]string{{"*"}}, []route{{1, 1}}},
	} {
		var candidates []store.Candidate
		for i, patterns := range c.patterns {
			candidates = append(candidates, candidate(byte(i+1), acme, patterns...))
		}
		p := plan([]store.Undecided{event(1, acme, c.eventType)}, nil, nil, candidates, nil)
		if diff := cmp.Diff(c.want, routes(p.deliveries)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if len(p.lanes) != len(c.want) {
			t.Errorf("%s: %d lanes", name, len(p.lanes))
		}
		if said := len(p.decisions) == 1 && p.decisions[0].Reason == "no endpoint asks for "+c.eventType; said != (len(c.want) == 0) {
			t.Errorf("%s: decisions %+v", name, p.decisions)
		}
	}
}

func TestPlanOfABatch(t *testing.T) {
	t.Parallel()
	paused := event(3, acme, "a")
	paused.SourceID = still
	events := []store.Undecided{event(1, acme, "a"), event(2, other, "a"), paused, event(4, acme, "b"), event(5, acme, "c")}
	candidates := []store.Candidate{candidate(1, acme, "a"), candidate(2, other), candidate(3, acme, "a", "b")}
	p := plan(events, map[gateway.SourceID]bool{still: true}, nil, candidates, nil)

	if diff := cmp.Diff([]route{{1, 1}, {1, 3}, {2, 2}, {4, 3}}, routes(p.deliveries)); diff != "" {
		t.Errorf("deliveries: %s", diff)
	}
	for _, d := range p.deliveries {
		if want := map[byte]gateway.AccountID{1: acme, 2: other, 4: acme}[d.EventID[0]]; d.AccountID != want {
			t.Errorf("delivery of another account: %+v", d)
		}
	}
	wantLanes := []store.LaneRef{
		{AccountID: acme, EndpointID: gateway.EndpointID{0: 1}},
		{AccountID: acme, EndpointID: gateway.EndpointID{0: 3}},
		{AccountID: other, EndpointID: gateway.EndpointID{0: 2}},
	}
	if diff := cmp.Diff(wantLanes, p.lanes); diff != "" {
		t.Errorf("each lane is told once: %s", diff)
	}
	wantDecisions := []store.Decision{
		{ID: paused.ID, Status: gateway.EventHeld, Reason: "the source is paused"},
		{ID: gateway.EventID{0: 5}, Status: gateway.EventNoEndpoints, Reason: "no endpoint asks for c"},
	}
	if diff := cmp.Diff(wantDecisions, p.decisions); diff != "" {
		t.Errorf("decisions: %s", diff)
	}
	wantUsage := map[store.SourceRef]store.Usage{
		{AccountID: acme, SourceID: active}:  {Events: 3, Bytes: 100},
		{AccountID: other, SourceID: active}: {Events: 1, Bytes: 20},
	}
	if diff := cmp.Diff(wantUsage, p.usage); diff != "" {
		t.Errorf("usage, without what is held: %s", diff)
	}
}

func TestPlanOfNothing(t *testing.T) {
	t.Parallel()
	p := plan(nil, nil, nil, []store.Candidate{candidate(1, acme)}, nil)
	if len(p.deliveries)+len(p.decisions)+len(p.lanes)+len(p.usage) != 0 {
		t.Errorf("plan %+v", p)
	}
}

// What nobody gets waits to be recovered, but for Rowlock's own news.
func TestPlanWithoutEndpoints(t *testing.T) {
	t.Parallel()
	for eventType, want := range map[string]gateway.EventStatus{
		"order.created": gateway.EventNoEndpoints, "rowlock.operation.done": gateway.EventIgnored, "rowlocks.test": gateway.EventNoEndpoints,
	} {
		p := plan([]store.Undecided{event(1, acme, eventType)}, nil, nil, []store.Candidate{candidate(1, acme, "a")}, nil)
		if len(p.decisions) != 1 || p.decisions[0].Status != want {
			t.Errorf("%s: %+v, want %s", eventType, p.decisions, want)
		}
	}
}
