package decide_test

import (
	"context"
	"errors"
	"testing"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/pgtest"
	"github.com/rowlock/rowlock/internal/store"
)

// stillOpen is the query for what is open at a deleted endpoint.
const stillOpen = `
	SELECT count(*)
	FROM deliveries d
	JOIN endpoints p ON p.id = d.endpoint_id
	WHERE p.deleted_at IS NOT NULL AND d.status IN ('pending', 'sending')`

// setSource pauses or resumes the source.
func (b *bundle) setSource(ctx context.Context, state gateway.SourceState) error {
	return b.store.InTx(ctx, func(tx store.Tx) error {
		_, err := tx.SetSourceState(ctx, b.account, b.source, state)
		return err
	})
}

// reopenHeld does what a resume does after the source is active.
func (b *bundle) reopenHeld(t *testing.T) (ids []gateway.EventID) {
	t.Helper()
	b.in(t, func(tx store.Tx) (err error) {
		ids, err = tx.ReopenHeld(t.Context(), b.account, b.source, 100)
		return err
	})
	return ids
}

// pausable gives the bundle a source that can be paused.
func (b *bundle) pausable(t *testing.T, state gateway.SourceState) {
	t.Helper()
	source := gateway.SourceID(b.clock.NewID())
	b.in(t, func(tx store.Tx) error {
		_, err := tx.CreateSource(t.Context(), b.account, gateway.Source{ID: source, Name: "GitHub", Kind: "github", Token: source.String()})
		return err
	})
	b.source = source
	if err := b.setSource(t.Context(), state); err != nil {
		t.Fatal(err)
	}
}

func TestPausedSourceHolds(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.endpoint(t)
	running := b.accept(t, 1, "a")[0]
	b.pausable(t, gateway.SourcePaused)
	ids := b.accept(t, 2, "a")
	b.process(t, append(ids, running)...)
	b.wantStatus(t, gateway.EventHeld, ids...)
	b.wantStatus(t, gateway.EventProcessed, running)
	if e := b.event(t, ids[0]); e.Decision != "the source is paused" {
		t.Errorf("decision %q", e.Decision)
	}
	b.wantUsage(t, 1)
	b.process(t, ids...) // held is decided: nothing changes
	b.wantStatus(t, gateway.EventHeld, ids...)

	if err := b.setSource(t.Context(), gateway.SourceActive); err != nil {
		t.Fatal(err)
	}
	b.process(t, b.reopenHeld(t)...)
	b.wantStatus(t, gateway.EventProcessed, ids...)
	b.wantUsage(t, 3)
	b.wantCount(t, 3, `SELECT count(*) FROM deliveries`)
}

// A resume that comes while events are being held waits for that, and finds
// them.
func TestResumeWaitsForWhatIsBeingHeld(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.pausable(t, gateway.SourcePaused)
	endpoint := b.endpoint(t)
	ids := b.accept(t, 2, "a")
	done := make(chan error, 2)
	b.in(t, func(tx store.Tx) error {
		// The endpoint's lock keeps the decision from ending.
		if err := tx.DeleteEndpoint(t.Context(), b.account, endpoint); err != nil {
			return err
		}
		go func() { done <- b.Process(t.Context(), ids) }()
		if err := b.untilWaiting(t, 1); err != nil {
			return err
		}
		go func() { done <- b.setSource(t.Context(), gateway.SourceActive) }()
		return b.untilWaiting(t, 2)
	})
	if err := errors.Join(<-done, <-done); err != nil {
		t.Fatal(err)
	}
	if found := b.reopenHeld(t); len(found) != 2 {
		t.Errorf("the resume finds %d held events, want both", len(found))
	}
	b.wantCount(t, 0, `SELECT count(*) FROM events WHERE status = 'held'`)
}

// A decision that saw the source paused looks again under the resume's lock,
// and holds nothing at a source that is active by then.
func TestDecisionWaitsForAResume(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.pausable(t, gateway.SourcePaused)
	b.endpoint(t)
	ids := b.accept(t, 2, "a")
	done := make(chan error, 1)
	b.in(t, func(tx store.Tx) error {
		if _, err := tx.SetSourceState(t.Context(), b.account, b.source, gateway.SourceActive); err != nil {
			return err
		}
		go func() { done <- b.Process(t.Context(), ids) }()
		return b.untilWaiting(t, 1)
	})
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	b.wantStatus(t, gateway.EventProcessed, ids...)
}

// Whatever the order, nothing is held at a source that is active in the end.
func TestResumesRaceWithDecisions(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.pausable(t, gateway.SourcePaused)
	b.endpoint(t)
	ids := b.accept(t, 24, "a")
	pgtest.AtOnce(9, func(i int) {
		if i > 0 {
			if err := b.Process(t.Context(), ids[3*(i-1):3*i]); err != nil {
				t.Error(err)
			}
			return
		}
		for range 4 {
			for _, state := range []gateway.SourceState{gateway.SourcePaused, gateway.SourceActive} {
				if err := b.setSource(t.Context(), state); err != nil {
					t.Error(err)
				}
			}
		}
	})
	b.process(t, b.reopenHeld(t)...)
	b.wantStatus(t, gateway.EventProcessed, ids...)
	b.wantCount(t, len(ids), `SELECT count(*) FROM deliveries`)
	b.wantUsage(t, len(ids))
}

// A deletion that comes first is waited for, and its endpoint is not seen.
func TestDecisionWaitsForADeletion(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	gone, stays := b.endpoint(t), b.endpoint(t)
	ids := b.accept(t, 2, "a")
	done := make(chan error, 1)
	b.in(t, func(tx store.Tx) error {
		if err := tx.DeleteEndpoint(t.Context(), b.account, gone); err != nil {
			return err
		}
		go func() { done <- b.Process(t.Context(), ids) }()
		return b.untilWaiting(t, 1)
	})
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	b.wantCount(t, 0, `SELECT count(*) FROM deliveries WHERE endpoint_id = $1`, gone)
	b.wantCount(t, 2, `SELECT count(*) FROM deliveries WHERE endpoint_id = $1`, stays)
}

// A deletion that comes second waits, and cancels what was added.
func TestDeletionWaitsForADecision(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	endpoint := b.endpoint(t)
	ids := b.accept(t, 2, "a")
	done := make(chan error, 2)
	b.in(t, func(tx store.Tx) error {
		// The usage row, which comes last, keeps the decision from ending.
		if err := tx.AddUsage(t.Context(), node, map[store.SourceRef]store.Usage{{AccountID: b.account, SourceID: b.source}: {}}, nil); err != nil {
			return err
		}
		go func() { done <- b.Process(t.Context(), ids) }()
		if err := b.untilWaiting(t, 1); err != nil {
			return err
		}
		go func() {
			done <- b.store.InTx(t.Context(), func(tx store.Tx) error {
				return tx.DeleteEndpoint(t.Context(), b.account, endpoint)
			})
		}()
		return b.untilWaiting(t, 2)
	})
	if err := errors.Join(<-done, <-done); err != nil {
		t.Fatal(err)
	}
	b.wantCount(t, 2, `SELECT count(*) FROM deliveries WHERE status = 'cancelled'`)
	b.wantCount(t, 0, stillOpen)
}

// Whatever the order, nothing is open at a deleted endpoint in the end.
func TestDeletionsRaceWithDecisions(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	var endpoints []gateway.EndpointID
	for range 4 {
		endpoints = append(endpoints, b.endpoint(t))
	}
	ids := b.accept(t, 24, "a")
	pgtest.AtOnce(12, func(i int) {
		if i < len(endpoints) {
			if err := b.store.InTx(t.Context(), func(tx store.Tx) error {
				return tx.DeleteEndpoint(t.Context(), b.account, endpoints[i])
			}); err != nil {
				t.Error(err)
			}
			return
		}
		at := 3 * (i - len(endpoints))
		if err := b.Process(t.Context(), ids[at:at+3]); err != nil {
			t.Error(err)
		}
	})
	b.wantCount(t, 0, stillOpen)
	b.wantCount(t, 0, `SELECT count(*) FROM events WHERE status = 'accepted'`)
	b.wantUsage(t, len(ids))
}

// An endpoint is resumed while a decision adds to it: a job or an alarm that
// comes after both tells its lane.
func TestEndpointResumesRaceWithDecisions(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	endpoint := b.endpoint(t)
	ids := b.accept(t, 24, "a")
	pgtest.AtOnce(9, func(i int) {
		if i > 0 {
			if err := b.Process(t.Context(), ids[3*(i-1):3*i]); err != nil {
				t.Error(err)
			}
			return
		}
		for range 5 {
			b.in(t, func(tx store.Tx) error {
				_, err := tx.PauseEndpoint(t.Context(), b.account, endpoint)
				return err
			})
			b.in(t, func(tx store.Tx) error {
				_, err := tx.ResumeEndpoint(t.Context(), b.account, endpoint)
				return err
			})
		}
	})
	b.wantStatus(t, gateway.EventProcessed, ids...)
	b.wantCount(t, len(ids), `SELECT count(*) FROM deliveries WHERE status = 'pending' AND next_attempt_at <= now()`)
	b.wantCount(t, 1, `SELECT count(*) FROM lanes WHERE wake_at <= now()`)
}
