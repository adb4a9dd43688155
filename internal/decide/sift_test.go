package decide

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/clock"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/rule"
	"github.com/rowlock/rowlock/internal/store"
)

// strict is a candidate with a filter.
func strict(n byte, account gateway.AccountID, filter string, patterns ...string) store.Candidate {
	c := candidate(n, account, patterns...)
	c.Filter = filter
	return c
}

// Where nobody has a filter, nothing is read: the transaction is not touched.
func TestNothingIsReadWithoutFilters(t *testing.T) {
	t.Parallel()
	s := &Service{filters: rule.NewFilters(), clock: clock.New()}
	events := []store.Undecided{event(1, acme, "a"), event(2, acme, "b")}
	for name, candidates := range map[string][]store.Candidate{
		"no filter":         {candidate(1, acme), candidate(2, other)},
		"another account's": {candidate(1, acme), strict(2, other, "true")},
		"another type's":    {strict(1, acme, "true", "c")},
		"nobody":            nil,
	} {
		refused, err := s.sift(t.Context(), store.Tx{}, events, candidates)
		if len(refused) != 0 || err != nil {
			t.Errorf("%s: %v, %v", name, refused, err)
		}
	}
	paused := map[gateway.SourceID]bool{active: true}
	if _, err := s.sift(t.Context(), store.Tx{}, told(events, paused, nil), []store.Candidate{strict(1, acme, "true")}); err != nil {
		t.Error(err)
	}
}

func TestPlanWithRefusals(t *testing.T) {
	t.Parallel()
	events := []store.Undecided{event(1, acme, "a"), event(2, acme, "a"), event(3, acme, "a")}
	one, two := gateway.EndpointID{0: 1}, gateway.EndpointID{0: 2}
	refused := refusals{events[1].ID: {one: ""}, events[2].ID: {one: "", two: "why"}}
	p := plan(events, nil, nil, []store.Candidate{strict(1, acme, "x"), strict(2, acme, "x"), strict(3, acme, "x", "b")}, refused)
	if diff := cmp.Diff([]route{{1, 1}, {1, 2}, {2, 2}}, routes(p.deliveries)); diff != "" {
		t.Error(diff)
	}
	want := []store.Decision{{ID: events[2].ID, Status: gateway.EventNoEndpoints, Reason: "2 endpoints ask for a, and the filter of none matches; 1 could not be evaluated, the first: why"}}
	if diff := cmp.Diff(want, p.decisions); diff != "" {
		t.Error(diff)
	}
}

func TestInParts(t *testing.T) {
	t.Parallel()
	const mib = 1 << 20
	for _, c := range []struct{ sizes, want []int }{
		{nil, nil},
		{[]int{0, 0, 0}, []int{3}},
		{[]int{9 * mib}, []int{1}},
		{[]int{mib, mib, mib, mib, mib}, []int{4, 1}},
		{[]int{9 * mib, 1, 9 * mib, 9 * mib, 1}, []int{1, 1, 1, 1, 1}},
		{[]int{1, 9 * mib, 1, 2}, []int{1, 1, 2}},
	} {
		var got []int
		var all []int
		for part := range inParts(c.sizes, func(n int) int { return n }) {
			got = append(got, len(part))
			all = append(all, part...)
		}
		if !slices.Equal(got, c.want) || !slices.Equal(all, c.sizes) {
			t.Errorf("%v is cut into %v, want %v", c.sizes, got, c.want)
		}
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	s := &Service{filters: rule.NewFilters(), clock: clock.New()}
	in := rule.NewInput(gateway.Content{Type: "a", Body: gateway.Body{Data: []byte(`{"n":1}`)}})
	candidates := []store.Candidate{strict(1, acme, "body.n == 1"), strict(2, acme, "body.n == 2"), strict(3, acme, "body.m == 2")}
	got, err := s.refusalsOf(t.Context(), in, candidates)
	if diff := cmp.Diff(map[gateway.EndpointID]string{{0: 2}: "", {0: 3}: "no such key: m"}, got); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.refusalsOf(ctx, in, []store.Candidate{strict(1, acme, "[1, 2].all(i, i > body.n)")}); !errors.Is(err, context.Canceled) {
		t.Errorf("given up: %v", err)
	}
}

// BenchmarkPlan is a batch without a filter, which must cost what it did
// before there were any.
func BenchmarkPlan(b *testing.B) {
	s := &Service{filters: rule.NewFilters(), clock: clock.New()}
	var events []store.Undecided
	for n := range byte(100) {
		events = append(events, event(n, acme, "order.created"))
	}
	candidates := []store.Candidate{candidate(1, acme), candidate(2, acme, "order.*"), candidate(3, acme, "refund.*")}
	b.ReportAllocs()
	for b.Loop() {
		refused, err := s.sift(b.Context(), store.Tx{}, events, candidates)
		if err != nil {
			b.Fatal(err)
		}
		plan(events, nil, nil, candidates, refused)
	}
}
