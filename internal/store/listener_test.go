package store_test

import (
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// One listens at a time: the same may ask as often as it likes, another only when
// that one has gone.
func TestHearListener(t *testing.T) {
	t.Parallel()
	r := newRelayed(t)
	other := gateway.Listener{ID: "listener-number-2", Host: "there"}
	refused := func() {
		t.Helper()
		if _, mine, err := r.HearListener(t.Context(), r.account, r.lane.EndpointID, other); err != nil || mine {
			t.Errorf("another was heard: %t, %v", mine, err)
		}
	}
	refused()
	if heard := r.hear(t, r.listener); heard.Came || heard.Poll != 2 {
		t.Errorf("heard %+v", heard)
	}
	r.away(t, gateway.ListenerGone-time.Second)
	refused()
	r.away(t, gateway.ListenerGone+time.Second)
	if heard := r.hear(t, other); !heard.Came || heard.Poll != 3 {
		t.Errorf("heard %+v", heard)
	}
	if _, mine, err := r.HearListener(t.Context(), r.account, r.lane.EndpointID, r.listener); err != nil || mine {
		t.Errorf("who was followed is heard: %t, %v", mine, err)
	}
	for range 2 { // the second one says nothing new
		if err := r.DropListener(t.Context(), r.account, r.lane.EndpointID, other.ID); err != nil {
			t.Fatal(err)
		}
	}
	if heard := r.hear(t, r.listener); !heard.Came {
		t.Errorf("heard %+v", heard)
	}
}

// Of many that come at once, one is heard.
func TestHearListenerAtOnce(t *testing.T) {
	t.Parallel()
	r := newRelayed(t)
	r.away(t, time.Hour)
	heard := make([]bool, poolSize-1)
	errs := r.atOnce(t.Context(), len(heard), func(_ store.Tx, i int) (err error) {
		l := gateway.Listener{ID: "listener-of-many-" + string(rune('a'+i)), Host: "there"}
		_, heard[i], err = r.HearListener(t.Context(), r.account, r.lane.EndpointID, l)
		return err
	})
	wantErrors(t, errs, len(heard), nil)
	n := 0
	for _, h := range heard {
		if h {
			n++
		}
	}
	if n != 1 {
		t.Errorf("%d were heard", n)
	}
}

// Nobody listens for an endpoint with an address, one that is deleted, or another
// account's.
func TestHearListenerOfNothing(t *testing.T) {
	t.Parallel()
	r := newRelayed(t)
	addressed := r.newEndpoint(t)
	if _, mine, err := r.HearListener(t.Context(), r.account, addressed.ID, r.listener); err != nil || mine {
		t.Errorf("one with an address: %t, %v", mine, err)
	}
	if _, mine, err := r.HearListener(t.Context(), r.newAccount(t, "other"), r.lane.EndpointID, r.listener); err != nil || mine {
		t.Errorf("another account's: %t, %v", mine, err)
	}
	r.exec(t, 1, `DELETE FROM listeners`)
	r.exec(t, 1, `UPDATE endpoints SET deleted_at = now() WHERE id = $1`, r.lane.EndpointID)
	if _, mine, err := r.HearListener(t.Context(), r.account, r.lane.EndpointID, r.listener); err != nil || mine {
		t.Errorf("a deleted one: %t, %v", mine, err)
	}
}

func TestSeeListener(t *testing.T) {
	t.Parallel()
	r := newRelayed(t)
	see := func(listener string, poll int64) bool {
		t.Helper()
		here, err := r.SeeListener(t.Context(), r.account, r.lane.EndpointID, listener, poll)
		if err != nil {
			t.Fatal(err)
		}
		return here
	}
	r.away(t, time.Hour)
	if !see(r.listener.ID, r.poll) || see(r.listener.ID, r.poll-1) || see("listener-number-2", r.poll) {
		t.Error("who is here is not seen, or who is not")
	}
	listeners, err := r.Listeners(t.Context(), r.account, []gateway.EndpointID{r.lane.EndpointID})
	if l := listeners[r.lane.EndpointID]; err != nil || !l.Connected || l.ID != r.listener.ID || l.Host != "here" || l.ConnectedAt.IsZero() {
		t.Errorf("listeners %+v, %v", listeners, err)
	}
	if err := r.DropListener(t.Context(), r.account, r.lane.EndpointID, r.listener.ID); err != nil {
		t.Fatal(err)
	}
	if see(r.listener.ID, r.poll) {
		t.Error("who has gone is seen")
	}
	if listeners, err = r.Listeners(t.Context(), r.account, []gateway.EndpointID{r.lane.EndpointID}); err != nil || listeners[r.lane.EndpointID].Connected {
		t.Errorf("listeners %+v, %v", listeners, err)
	}
}

// The lane of an endpoint that nobody listens for is nobody's to take, and its
// alarm does not ring; what a listener has had is still waited for.
func TestLaneWithoutListener(t *testing.T) {
	t.Parallel()
	r := newRelayed(t)
	acquired := func() bool {
		t.Helper()
		r.exec(t, 1, `UPDATE lanes SET leased_until = NULL, wake_at = now() - interval '1 minute'`)
		rings := 0
		r.in(t, func(tx store.Tx) error {
			lanes, err := tx.RingAlarms(t.Context(), 10)
			rings = len(lanes)
			return err
		})
		_, ok, err := r.AcquireLane(t.Context(), r.account, r.lane.EndpointID, "n")
		if err != nil || ok != (rings == 1) {
			t.Errorf("acquired: %t, %v, and %d alarms rang", ok, err, rings)
		}
		return ok
	}
	if !acquired() {
		t.Error("not although somebody listens")
	}
	r.away(t, gateway.ListenerGone+time.Second)
	if acquired() {
		t.Error("although nobody listens")
	}
	r.exec(t, 1, `UPDATE lanes SET leased_until = NULL, wake_at = now() - interval '1 minute'`)
	if lanes, err := r.LaneStates(t.Context(), 10); err != nil || len(lanes) != 0 {
		t.Errorf("lanes %+v, %v: what waits for a listener is not stuck", lanes, err)
	}
	if counts, err := r.CountLanes(t.Context()); err != nil || counts != (store.LaneCounts{}) {
		t.Errorf("counts %+v, %v", counts, err)
	}
	r.take(t, 1)
	if !acquired() {
		t.Error("not although a listener had something")
	}
}
