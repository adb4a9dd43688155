package accept_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/accept"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/signature"
)

// Each event of a request is one of its own, as it would have come alone; the
// request itself is kept once, byte for byte.
func TestARequestOfSeveralEvents(t *testing.T) {
	t.Parallel()
	b := newBundle(t, accept.Limits{})
	s := b.newSender(t, gateway.Source{Kind: "sendgrid"})
	in := s.signed(t, mails("a", "b", ""))
	in.Path, in.Query = "/p", "q=1"
	got, err := b.Service.Receive(t.Context(), in)
	if err != nil || len(got.Events) != 3 || !got.Batch || got.Handshake || got.Answer != nil {
		t.Fatalf("%+v, %v", got, err)
	}
	var request gateway.RequestID
	for i, want := range []struct{ kind, key, body string }{
		{"delivered", "a", mails("a")}, {"delivered", "b", mails("b")}, {"open", "", "[" + `{"event":"open","n":2}` + "]\r\n"},
	} {
		event, body := b.event(t, got.Events[i].ID)
		if event.Type != want.kind || string(event.Key) != want.key || event.RequestID == nil || event.BodySize != len(want.body) {
			t.Errorf("event %d: %+v", i, event)
		}
		request = *event.RequestID
		wantBody := gateway.Body{Method: "POST", Path: []byte("/p"), Query: []byte("q=1"), Headers: gateway.EncodeHeaders(in.Header), Data: []byte(want.body)}
		if diff := cmp.Diff(wantBody, body); diff != "" {
			t.Error(diff)
		}
	}
	whole, err := b.store.WholeRequest(t.Context(), b.account, request)
	if err != nil || string(whole.Data) != string(in.Body) || string(whole.Query) != "q=1" {
		t.Errorf("kept is %+v, %v", whole, err)
	}
	b.wantRows(t, rows{events: 3, keys: 2, raw: 1})
	if n := len(b.committed.all()); n != 3 {
		t.Errorf("%d are to be decided", n)
	}
}

// A request that brings one event is that event, also of a kind that can bring
// several: it is kept once.
func TestARequestOfOneEventOfSeveral(t *testing.T) {
	t.Parallel()
	b := newBundle(t, accept.Limits{})
	s := b.newSender(t, gateway.Source{Kind: "sendgrid"})
	for round, id := range []string{"a", "a"} {
		in := s.signed(t, mails(id))
		got, err := b.Service.Receive(t.Context(), in)
		if err != nil || len(got.Events) != 1 || !got.Batch || got.Events[0].Duplicate != (round == 1) {
			t.Fatalf("%+v, %v", got, err)
		}
		event, body := b.event(t, got.Events[0].ID)
		if event.RequestID != nil || string(body.Data) != string(in.Body) {
			t.Errorf("%+v %q", event, body.Data)
		}
	}
	b.wantRows(t, rows{events: 1, keys: 1, requests: 1})
}

// Of two events of one request with one key the first is taken; the other
// leaves the trace of a repeat.
func TestARequestThatRepeatsAnEvent(t *testing.T) {
	t.Parallel()
	b := newBundle(t, accept.Limits{})
	s := b.newSender(t, gateway.Source{Kind: "sendgrid"})
	in := s.signed(t, mails("a", "b", "a"))
	in.Sender = netip.MustParseAddr("203.0.113.7")
	got, err := b.Service.Receive(t.Context(), in)
	if err != nil || len(got.Events) != 3 {
		t.Fatalf("%+v, %v", got, err)
	}
	if first, again := got.Events[0], got.Events[2]; first.Duplicate || got.Events[1].Duplicate || again != (accept.Received{ID: first.ID, Duplicate: true}) {
		t.Errorf("%+v", got.Events)
	}
	kept := b.requests(t, s.source.ID)
	if len(kept) != 1 || kept[0].Cause != gateway.CauseDuplicate || *kept[0].EventID != got.Events[0].ID || kept[0].Answered != 200 || kept[0].Sender != "203.0.113.7" {
		t.Errorf("kept is %+v", kept)
	}
	b.wantRows(t, rows{events: 2, keys: 2, requests: 1, raw: 1})
}

// The same request twenty times at once: each of its events is taken once, and
// the request kept once; and so are the events of others in which they stand in
// another order.
func TestTheSameEventsAtOnce(t *testing.T) {
	t.Parallel()
	const n = 20
	b := newBundle(t, accept.Limits{})
	s := b.newSender(t, gateway.Source{Kind: "sendgrid"})
	whole := 0 // requests without a repeat
	orders := []string{mails("a", "b", "c", "d"), mails("d", "c", "b", "a"), mails("c", "a", "d", "b")}
	for round := range 2 {
		all := atOnce(n, func(i int) (accept.Receipt, error) {
			return b.Service.Receive(t.Context(), s.signed(t, orders[i%len(orders)]))
		})
		wantOutcomes(t, all, n, nil)
		first := map[gateway.EventID]int{}
		for _, one := range all {
			if !slices.ContainsFunc(one.Events, func(event accept.Received) bool { return event.Duplicate }) {
				whole++
			}
			for _, event := range one.Events {
				first[event.ID]++
				if !event.Duplicate {
					first[event.ID] += 1000
				}
			}
		}
		for id, times := range first {
			if want := n + 1000*(1-round); times != want {
				t.Errorf("round %d: %s was told %d times, want %d", round, id, times, want)
			}
		}
		if len(first) != 4 {
			t.Errorf("round %d: %d events were told of, want 4", round, len(first))
		}
	}
	raw := b.count(t, `SELECT count(DISTINCT request_id) FROM events`)
	b.wantRows(t, rows{events: 4, keys: 4, requests: 2*n - whole, raw: raw})
	repeats := 0
	for _, kept := range b.requests(t, s.source.ID) {
		var n, of int
		if _, err := fmt.Sscanf(kept.Detail, "%d of its %d events came before.", &n, &of); err != nil || of != 4 {
			t.Fatalf("kept is %+v, %v", kept, err)
		}
		repeats += n
	}
	if repeats != 2*4*n-4 {
		t.Errorf("%d repeats are counted, want %d", repeats, 2*4*n-4)
	}
}

// A request whose events are repeats leaves one trace, with its whole body and
// the first of the events, however many they are: others are not crowded out.
func TestARequestOfRepeatsLeavesOneTrace(t *testing.T) {
	t.Parallel()
	b := newBundle(t, accept.Limits{})
	s := b.newSender(t, gateway.Source{Kind: "sendgrid"})
	first, err := b.Service.Receive(t.Context(), s.signed(t, mails("a", "b", "c")))
	if err != nil {
		t.Fatal(err)
	}
	for round, test := range []struct {
		body, detail string
		event        int
		differs      bool
	}{
		{mails("a", "b", "c"), "3 of its 3 events came before.", 0, false},
		{mails("new", "c", "b"), "2 of its 3 events came before.", 2, false},
		{strings.Replace(mails("b", "a"), "1.0", "1.5", 1), "2 of its 2 events came before.", 1, true},
		{mails("b"), "", 1, false},
	} {
		if _, err := b.Service.Receive(t.Context(), s.signed(t, test.body)); err != nil {
			t.Fatal(err)
		}
		kept := b.requests(t, s.source.ID)
		if len(kept) != round+1 {
			t.Fatalf("round %d: %d traces", round, len(kept))
		}
		if got := kept[0]; got.Cause != gateway.CauseDuplicate || got.Detail != test.detail || *got.EventID != first.Events[test.event].ID ||
			got.BodyDiffers != test.differs || string(got.Body.Data) != test.body {
			t.Errorf("round %d: kept is %+v", round, got)
		}
	}
}

// All events of a request are stored, or none is; a request that the database
// refuses fails by itself.
func TestARequestIsTakenWhole(t *testing.T) {
	t.Parallel()
	const n = 10
	b := newStopped(t, accept.Limits{})
	s := b.newSender(t, gateway.Source{Kind: "sendgrid"})
	b.exec(t, `ALTER TABLE events ADD CONSTRAINT poison CHECK (type <> 'poison')`)
	poisonous := strings.Replace(mails("x", "y", "z"), `"event":"delivered", "n" : 1.0},`, `"event":"poison"},`, 1)
	requests := make([]string, n)
	for i := range requests {
		requests[i] = mails(fmt.Sprint("a", i), fmt.Sprint("b", i))
	}
	requests[3] = poisonous
	results := make(chan []outcome)
	go func() {
		results <- atOnce(n, func(i int) (accept.Receipt, error) {
			return b.Service.Receive(context.WithoutCancel(t.Context()), s.signed(t, requests[i]))
		})
	}()
	b.queued(n)
	b.start(t)
	wantOutcomes(t, <-results, n-1, func(err error) bool { return !accept.IsTemporary(err) })
	b.wantRows(t, rows{events: 2 * (n - 1), keys: 2 * (n - 1), raw: n - 1})
	b.exec(t, `ALTER TABLE events DROP CONSTRAINT poison`)
	if got, err := b.Service.Receive(t.Context(), s.signed(t, poisonous)); err != nil || got.Events[1].Duplicate {
		t.Errorf("after it was mended: %+v, %v", got, err)
	}
}

// What waits counts with all that it will store, and is decided in jobs of the
// usual size.
func TestARequestOfManyEvents(t *testing.T) {
	t.Parallel()
	const n = 2*accept.MaxBatch + 1
	b := newStopped(t, accept.Limits{})
	s := b.newSender(t, gateway.Source{Kind: "sendgrid"})
	in := s.signed(t, mails(make([]string, n)...))
	in.Header.Set("X-Long", strings.Repeat("x", 1000))
	results := make(chan []outcome)
	go func() {
		results <- atOnce(1, func(int) (accept.Receipt, error) { return b.Service.Receive(context.WithoutCancel(t.Context()), in) })
	}()
	b.queued(1)
	if waits := b.QueuedBytes(); waits < 2*int64(len(in.Body))+n*1000 {
		t.Errorf("%d bytes wait, of a request of %d that is kept beside its events, which have its header each", waits, len(in.Body))
	}
	b.committed.fill()
	b.start(t)
	wantOutcomes(t, <-results, 1, nil)
	b.wantRows(t, rows{events: n, raw: 1})
	if jobs := b.count(t, `SELECT count(*) FROM river_job`); jobs != 3 || b.QueuedBytes() != 0 {
		t.Errorf("%d jobs, %d bytes wait", jobs, b.QueuedBytes())
	}
}

// A request is not taken apart into more than a bounded number of events and of
// bytes, with the header that each of them has: it is one event then, and
// nothing of it is lost.
func TestARequestThatIsTooLargeApart(t *testing.T) {
	t.Parallel()
	b := newBundle(t, accept.Limits{})
	s := b.newSender(t, gateway.Source{Kind: "sendgrid"})
	for name, test := range map[string]struct{ events, header, query, want int }{
		"many":                    {signature.MaxEvents, 0, 0, signature.MaxEvents},
		"too many":                {signature.MaxEvents + 1, 0, 0, 1},
		"many with a long header": {1000, 20 << 10, 0, 1},
		"many with a long query":  {1000, 0, 20 << 10, 1},
		"few with a long header":  {100, 20 << 10, 0, 100},
	} {
		in := s.signed(t, mails(make([]string, test.events)...))
		in.Header.Set("X-Long", strings.Repeat("x", test.header))
		in.Query = strings.Repeat("x", test.query)
		got, err := b.Service.Receive(t.Context(), in)
		if err != nil || len(got.Events) != test.want {
			t.Errorf("%s: %d events, %v, want %d", name, len(got.Events), err, test.want)
			continue
		}
		if event, body := b.event(t, got.Events[0].ID); test.want == 1 && (string(body.Data) != string(in.Body) || event.Type != gateway.DefaultEventType) {
			t.Errorf("%s: %+v", name, event)
		}
	}
}

// Each event of a request counts against the rates, and a request is taken with
// all its events or not at all.
func TestRatesCountEvents(t *testing.T) {
	t.Parallel()
	const perSecond = 5
	b := newBundle(t, accept.Limits{})
	s := b.newSender(t, gateway.Source{Kind: "sendgrid", Settings: []byte(`{"rate_limit":{"per_second":5}}`)})
	since := time.Now()
	fit, err := untilLimited(t, func() error {
		_, err := b.Service.Receive(t.Context(), s.signed(t, mails("", "", "", "")))
		return err
	})
	wantLimited(t, err, perSecond, time.Second)
	if most := perSecond * (1 + time.Since(since).Seconds()); fit < 1 || float64(4*fit) > most {
		t.Errorf("%d events fit into a rate of %g", 4*fit, most)
	}
	b.wantRows(t, rows{events: 4 * fit, raw: fit})
	// More than a second's worth would never fit: it is taken when nothing else
	// was, and waited for afterwards.
	large := b.newSender(t, gateway.Source{Kind: "sendgrid", Settings: s.source.Settings})
	since = time.Now()
	if got, err := b.Service.Receive(t.Context(), large.signed(t, mails(make([]string, 20*perSecond)...))); err != nil || len(got.Events) != 20*perSecond {
		t.Errorf("%+v, %v", got, err)
	}
	for events, want := range map[int]float64{1: 19.2, 10 * perSecond: 20} {
		_, err := b.Service.Receive(t.Context(), large.signed(t, mails(make([]string, events)...)))
		limited, ok := errors.AsType[*accept.RateLimitedError](err)
		if !ok || limited.Limit != perSecond || limited.Retry%time.Second != 0 {
			t.Fatalf("%d events: %v", events, err)
		}
		if wait := limited.Retry.Seconds(); wait > want+1 || wait < want-time.Since(since).Seconds() {
			t.Errorf("%d events: to come back after %g s, want %g", events, wait, want)
		}
	}
}

// However many events come in each request, an account has no more of them than
// its rate in the long run.
func TestRatesHoldForLargeRequests(t *testing.T) {
	t.Parallel()
	const perSecond, each = 100, 150
	b := newBundle(t, accept.Limits{AccountEventsPerSecond: perSecond})
	s := b.newSender(t, gateway.Source{Kind: "sendgrid"})
	in := s.signed(t, mails(make([]string, each)...))
	began := time.Now()
	for fit := 0; fit < 2; {
		_, err := b.Service.Receive(t.Context(), in)
		switch {
		case err == nil:
			fit++
		case !errors.Is(err, gateway.ErrRateLimited):
			t.Fatal(err)
		}
	}
	if took := time.Since(began).Seconds(); took < float64(each)/perSecond {
		t.Errorf("%d events were taken within %g s, of which %d may come each", 2*each, took, perSecond)
	}
}
