package store_test

import (
	"slices"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// relayed is an endpoint that is listened for, with its lane and a listener.
type relayed struct {
	bundle
	lane     store.Lane
	listener gateway.Listener
	poll     int64
}

func newRelayed(t *testing.T) *relayed {
	t.Helper()
	b := newBundle(t)
	e := b.listened()
	b.in(t, func(tx store.Tx) (err error) {
		_, err = tx.CreateEndpoint(t.Context(), b.account, e, 0)
		return err
	})
	r := &relayed{bundle: b, lane: store.Lane{AccountID: b.account, EndpointID: e.ID}, listener: gateway.Listener{ID: "listener-number-1", Host: "here"}}
	r.hear(t, r.listener)
	r.lane = b.laneOf(t, b.account, e.ID)
	return r
}

// hear has a listener ask, which must be heard.
func (r *relayed) hear(t *testing.T, l gateway.Listener) store.Heard {
	t.Helper()
	heard, mine, err := r.HearListener(t.Context(), r.account, r.lane.EndpointID, l)
	if err != nil || !mine {
		t.Fatalf("heard: %t, %v", mine, err)
	}
	r.poll = heard.Poll
	return heard
}

// take queues n deliveries, takes them, and gives them out.
func (r *relayed) take(t *testing.T, n int) []gateway.AttemptID {
	t.Helper()
	var ids []gateway.AttemptID
	r.queued(t, r.lane.EndpointID, n)
	r.in(t, func(tx store.Tx) error {
		taken, err := tx.TakeDue(t.Context(), r.lane, n)
		if err != nil || len(taken) != n {
			t.Errorf("%d taken, %v", len(taken), err)
			return err
		}
		made := make([]store.NewRelay, n)
		for i, d := range taken {
			made[i] = store.NewRelay{Delivery: d.ID, N: d.N, Event: d.EventID, Timeout: time.Second}
			ids = append(ids, gateway.DeriveAttemptID(d.ID, d.N))
		}
		return tx.MakeRelays(t.Context(), r.lane, made)
	})
	return ids
}

// ask has the listener take what there is, and returns what it got.
func (r *relayed) ask(t *testing.T, holding ...gateway.AttemptID) []gateway.AttemptID {
	t.Helper()
	var got []gateway.AttemptID
	asking := store.Asking{AccountID: r.account, EndpointID: r.lane.EndpointID, Listener: r.listener.ID, Poll: r.poll, Holding: holding}
	some, err := r.HasRelays(t.Context(), asking)
	if err != nil {
		t.Fatal(err)
	}
	r.in(t, func(tx store.Tx) error {
		relays, err := tx.TakeRelays(t.Context(), asking)
		for _, one := range relays {
			got = append(got, gateway.DeriveAttemptID(one.Delivery, one.N))
		}
		return err
	})
	if some != (len(got) > 0) {
		t.Errorf("there is some: %t, and %d were given", some, len(got))
	}
	return got
}

func (r *relayed) report(t *testing.T, id gateway.AttemptID, outcome gateway.Outcome) bool {
	t.Helper()
	var known map[gateway.AttemptID]bool
	r.in(t, func(tx store.Tx) (err error) {
		known, err = tx.ReportRelays(t.Context(), r.account, r.lane.EndpointID, r.listener.ID, []gateway.Attempt{attemptOf(t, id, outcome)})
		return err
	})
	return known[id]
}

func attemptOf(t *testing.T, id gateway.AttemptID, outcome gateway.Outcome) gateway.Attempt {
	t.Helper()
	delivery, n, err := gateway.SplitAttemptID(id)
	if err != nil {
		t.Fatal(err)
	}
	return gateway.Attempt{DeliveryID: delivery, N: n, Outcome: outcome, StatusCode: 200, ResponseBody: []byte("ok")}
}

func (r *relayed) ended(t *testing.T, ids ...gateway.AttemptID) []store.RelayEnd {
	t.Helper()
	ended, err := r.EndedRelays(t.Context(), r.lane, ids)
	if err != nil {
		t.Fatal(err)
	}
	return ended
}

// away sets when the listener was heard last.
func (r *relayed) away(t *testing.T, age time.Duration) {
	t.Helper()
	r.exec(t, 1, `UPDATE listeners SET seen_at = clock_timestamp() - $1::interval`, age)
}

// A relay is given once, and again only to a listener that does not have it.
func TestTakeRelays(t *testing.T) {
	t.Parallel()
	r := newRelayed(t)
	ids := r.take(t, 2)
	if got := r.ask(t); len(got) != 2 {
		t.Fatalf("got %v", got)
	}
	if got := r.ask(t); len(got) != 0 {
		t.Errorf("the same asking got %v again", got)
	}
	r.hear(t, r.listener)
	if got := r.ask(t, ids...); len(got) != 0 {
		t.Errorf("whoever has them got %v again", got)
	}
	r.hear(t, r.listener)
	if got := r.ask(t, ids[0]); !slices.Equal(got, ids[1:]) {
		t.Errorf("got %v, want what was lost on the way", got)
	}
	followed := store.Asking{AccountID: r.account, EndpointID: r.lane.EndpointID, Listener: r.listener.ID, Poll: r.poll}
	r.hear(t, r.listener)
	r.in(t, func(tx store.Tx) error {
		got, err := tx.TakeRelays(t.Context(), followed)
		if len(got) != 0 {
			t.Errorf("an asking that another has followed got %v", got)
		}
		return err
	})
}

// A long body goes alone, and the others after it.
func TestTakeRelaysByTheirSize(t *testing.T) {
	t.Parallel()
	r := newRelayed(t)
	r.take(t, 3)
	r.exec(t, 3, `UPDATE event_bodies SET body = convert_to(repeat('x', 3 << 20), 'UTF8')`)
	for _, want := range []int{2, 1, 0} {
		if got := r.ask(t); len(got) != want {
			t.Fatalf("got %d, want %d", len(got), want)
		}
	}
}

// Of a report and the giving up, the first one counts, however often each comes.
func TestRelayEndsOnce(t *testing.T) {
	t.Parallel()
	r := newRelayed(t)
	ids := r.take(t, 2)
	r.ask(t)
	if !r.report(t, ids[0], gateway.OutcomeSucceeded) || !r.report(t, ids[0], gateway.OutcomeRejected) {
		t.Error("a report is not known, or not any more")
	}
	r.away(t, gateway.ListenerGone+time.Second)
	for range 2 {
		if err := r.GiveUpRelays(t.Context(), r.lane); err != nil {
			t.Fatal(err)
		}
	}
	if r.report(t, ids[1], gateway.OutcomeSucceeded) {
		t.Error("what was given up is reported")
	}
	ended := r.ended(t, ids...)
	if len(ended) != 2 {
		t.Fatalf("ended %+v", ended)
	}
	for _, e := range ended {
		reported := e.Attempt.ID() == ids[0]
		if e.Reported != reported || !e.Taken || reported && (e.Attempt.Outcome != gateway.OutcomeSucceeded || string(e.Attempt.ResponseBody) != "ok") {
			t.Errorf("ended %+v", e)
		}
	}
	r.in(t, func(tx store.Tx) error { return tx.EndRelays(t.Context(), r.account, ids) })
	if n := r.count(t, `SELECT count(*) FROM relays`); n != 0 {
		t.Errorf("%d relays are left", n)
	}
}

// Many reports and givings-up at once end each relay in one way.
func TestRelayEndsOnceAtOnce(t *testing.T) {
	t.Parallel()
	r := newRelayed(t)
	ids := r.take(t, 5)
	r.ask(t)
	r.away(t, gateway.ListenerGone+time.Second)
	known := make([]map[gateway.AttemptID]bool, poolSize)
	errs := r.atOnce(t.Context(), poolSize-1, func(tx store.Tx, i int) (err error) {
		if i%2 == 0 {
			return r.GiveUpRelays(t.Context(), r.lane)
		}
		reports := make([]gateway.Attempt, len(ids))
		for j, id := range ids {
			reports[(i+j)%len(ids)] = attemptOf(t, id, gateway.OutcomeSucceeded)
		}
		known[i], err = tx.ReportRelays(t.Context(), r.account, r.lane.EndpointID, r.listener.ID, reports)
		return err
	})
	wantErrors(t, errs, poolSize-1, nil)
	for _, e := range r.ended(t, ids...) {
		for i, k := range known {
			if k != nil && k[e.Attempt.ID()] && !e.Reported {
				t.Errorf("report %d of what was given up is known", i)
			}
		}
	}
	if n := len(r.ended(t, ids...)); n != len(ids) {
		t.Errorf("%d ended, want all", n)
	}
}

// What nobody took is given up when nobody listens, or when it is too late to
// begin; while somebody listens it waits.
func TestGiveUpRelays(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		do   string
		want int
	}{
		"somebody listens":       {`SELECT`, 0},
		"silent for a moment":    {`UPDATE listeners SET seen_at = clock_timestamp() - interval '14 seconds'`, 0},
		"silent for long":        {`UPDATE listeners SET seen_at = clock_timestamp() - interval '16 seconds'`, 1},
		"has gone":               {`UPDATE listeners SET left_at = clock_timestamp()`, 1},
		"too late to begin":      {`UPDATE relays SET begins_until = clock_timestamp() - interval '1 ms'`, 1},
		"nobody took it":         {`UPDATE relays SET made_at = clock_timestamp() - interval '61 seconds'`, 1},
		"the payload is deleted": {`DELETE FROM event_bodies`, 1},
		"it takes long":          {`UPDATE relays SET taken_at = clock_timestamp() - interval '60 seconds', listener = 'listener-number-1'`, 0},
		"it takes too long":      {`UPDATE relays SET taken_at = clock_timestamp() - interval '62 seconds', listener = 'listener-number-1'`, 1},
		"another listens":        {`UPDATE relays SET taken_at = clock_timestamp(), listener = 'another-listener'`, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRelayed(t)
			ids := r.take(t, 1)
			if _, err := r.pool.Exec(t.Context(), tt.do); err != nil {
				t.Fatal(err)
			}
			if err := r.GiveUpRelays(t.Context(), r.lane); err != nil {
				t.Fatal(err)
			}
			if ended := r.ended(t, ids...); len(ended) != tt.want || tt.want == 1 && ended[0].Reported {
				t.Errorf("ended %+v", ended)
			}
		})
	}
}

// Who holds the lane next waits for what the one before gave out; who held it
// before ends nothing any more.
func TestAdoptRelays(t *testing.T) {
	t.Parallel()
	r := newRelayed(t)
	ids := r.take(t, 2)
	r.ask(t)
	r.report(t, ids[0], gateway.OutcomeSucceeded)
	before := r.lane
	r.lane = r.laneOf(t, r.account, r.lane.EndpointID)
	var adopted []store.Taken
	r.in(t, func(tx store.Tx) (err error) {
		if adopted, err = tx.AdoptRelays(t.Context(), r.lane); err != nil {
			return err
		}
		if again, err := tx.AdoptRelays(t.Context(), r.lane); err != nil || len(again) != 0 {
			t.Errorf("adopted %+v a second time", again)
		}
		left, err := tx.TakeOver(t.Context(), r.lane)
		if left != 0 {
			t.Errorf("%d were taken over although a listener has them", left)
		}
		return err
	})
	if len(adopted) != 2 || !adopted[0].Relayed || adopted[0].EventType != queuedType || adopted[0].Step != 1 || adopted[0].Trigger != gateway.TriggerAuto {
		t.Fatalf("adopted %+v", adopted)
	}
	if ended := r.ended(t, ids...); len(ended) != 1 || ended[0].Attempt.ID() != ids[0] {
		t.Errorf("ended %+v", ended)
	}
	r.away(t, gateway.ListenerGone+time.Second)
	if err := r.GiveUpRelays(t.Context(), before); err != nil {
		t.Fatal(err)
	}
	if ended, err := r.EndedRelays(t.Context(), before, ids); err != nil || len(ended) != 0 {
		t.Errorf("the holder before sees the end of %+v, %v", ended, err)
	}
	if ended := r.ended(t, ids...); len(ended) != 1 {
		t.Errorf("the holder before gave up %+v", ended)
	}
	if n := r.count(t, `SELECT count(*) FROM deliveries WHERE status = 'sending' AND fence = $1`, r.lane.Fence); n != 2 {
		t.Errorf("%d deliveries are the new holder's", n)
	}
}

// A relay whose delivery is gone ends with the take-over.
func TestAdoptRelaysOfWhatIsGone(t *testing.T) {
	t.Parallel()
	r := newRelayed(t)
	r.take(t, 1)
	r.exec(t, 1, `DELETE FROM deliveries`)
	r.lane = r.laneOf(t, r.account, r.lane.EndpointID)
	r.in(t, func(tx store.Tx) error {
		adopted, err := tx.AdoptRelays(t.Context(), r.lane)
		if len(adopted) != 0 {
			t.Errorf("adopted %+v", adopted)
		}
		return err
	})
	if n := r.count(t, `SELECT count(*) FROM relays`); n != 0 {
		t.Errorf("%d relays are left", n)
	}
}

func TestPruneRelays(t *testing.T) {
	t.Parallel()
	r := newRelayed(t)
	r.take(t, 3)
	prune := func(want int) {
		t.Helper()
		if err := r.PruneRelays(t.Context(), time.Hour); err != nil {
			t.Fatal(err)
		}
		if n := r.count(t, `SELECT count(*) FROM relays`); n != want {
			t.Errorf("%d relays are left, want %d", n, want)
		}
	}
	r.exec(t, 1, `UPDATE relays SET fence = 0 WHERE delivery_id = (SELECT min(delivery_id::text)::uuid FROM relays)`)
	prune(3)
	r.exec(t, 3, `UPDATE relays SET made_at = now() - interval '2 hours'`)
	prune(2)
	r.exec(t, 1, `UPDATE endpoints SET deleted_at = now()`)
	prune(0)
}
