package decide_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/pgtest"
)

func TestReprocess(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	id := b.accept(t, 1, "a")[0]
	b.process(t, id)
	b.wantStatus(t, gateway.EventNoEndpoints, id)
	b.endpoint(t)
	if err := b.Reprocess(t.Context(), b.account, actor, id); err != nil {
		t.Fatal(err)
	}
	if e := b.event(t, id); e.Status != gateway.EventAccepted || e.Decision != "" {
		t.Errorf("event is %s, %q", e.Status, e.Decision)
	}
	jobs := b.processJobs(t)
	if len(jobs) != 1 || !slices.Equal(jobs[0], []gateway.EventID{id}) {
		t.Errorf("jobs %v", jobs)
	}
	b.process(t, id)
	b.wantStatus(t, gateway.EventProcessed, id)
	b.wantUsage(t, 1) // deciding again is not another event
	b.wantCount(t, 1, `SELECT count(*) FROM deliveries`)
	b.wantCount(t, 1, `SELECT count(*) FROM audit_log WHERE action = 'event.process' AND object = $1 AND actor = $2`, id.String(), string(actor))
}

func TestReprocessByStatus(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.endpoint(t)
	for _, status := range gateway.EventStatuses {
		id := b.accept(t, 1, "a")[0]
		b.exec(t, `UPDATE events SET status = $2 WHERE id = $1`, id, string(status))
		err := b.Reprocess(t.Context(), b.account, actor, id)
		if slices.Contains(gateway.ReprocessableStatuses, status) {
			if err != nil {
				t.Errorf("%s: %v", status, err)
			}
			b.wantStatus(t, gateway.EventAccepted, id)
			continue
		}
		if !errors.Is(err, gateway.ErrStateChanged) {
			t.Errorf("%s: %v", status, err)
		}
		b.wantStatus(t, status, id)
	}
	if n := len(b.processJobs(t)); n != len(gateway.ReprocessableStatuses) {
		t.Errorf("%d jobs", n)
	}
}

// Of many presses one has an effect.
func TestReprocessAtOnce(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	id := b.accept(t, 1, "a")[0]
	b.process(t, id)
	b.endpoint(t)
	var done atomic.Int32
	pgtest.AtOnce(10, func(int) {
		switch err := b.Reprocess(t.Context(), b.account, actor, id); {
		case err == nil:
			done.Add(1)
		case !errors.Is(err, gateway.ErrStateChanged):
			t.Error(err)
		}
	})
	b.wantCount(t, 1, `SELECT count(*) FROM audit_log`)
	if jobs := b.processJobs(t); done.Load() != 1 || len(jobs) != 1 {
		t.Errorf("%d had an effect, %d jobs", done.Load(), len(jobs))
	}
	b.process(t, id)
	b.wantCount(t, 1, `SELECT count(*) FROM deliveries`)
}

func TestReprocessOfAnotherAccount(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	id := b.accept(t, 1, "a")[0]
	b.process(t, id)
	other, _ := b.newAccount(t, "other")
	for _, err := range []error{
		b.Reprocess(t.Context(), other, actor, id),
		b.Reprocess(t.Context(), b.account, actor, gateway.EventID(b.clock.NewID())),
	} {
		if !errors.Is(err, gateway.ErrNotFound) {
			t.Errorf("error %v", err)
		}
	}
	b.wantStatus(t, gateway.EventNoEndpoints, id)
}

// No call needs a second connection while it holds one: else as many calls as
// there are connections would wait for each other.
func TestReprocessNeedsOneConnection(t *testing.T) {
	t.Parallel()
	b := newBundleOf(t, 1)
	id := b.accept(t, 1, "a")[0]
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	if err := b.Reprocess(ctx, b.account, actor, id); !errors.Is(err, gateway.ErrStateChanged) {
		t.Errorf("error %v", err)
	}
}

// A held event is counted when it is let go, once.
func TestHeldIsCountedWhenItIsLetGo(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.endpoint(t)
	id := b.accept(t, 1, "a")[0]
	b.exec(t, `UPDATE sources SET state = 'paused' WHERE id = $1`, b.source)
	b.process(t, id)
	b.wantStatus(t, gateway.EventHeld, id)
	b.wantUsage(t, 0)
	b.exec(t, `UPDATE sources SET state = 'active' WHERE id = $1`, b.source)
	b.exec(t, `UPDATE events SET status = 'accepted' WHERE id = $1`, id)
	b.process(t, id)
	b.wantStatus(t, gateway.EventProcessed, id)
	b.wantUsage(t, 1)
}
