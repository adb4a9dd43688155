package source_test

import (
	"context"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

func TestPauseAndResumeAreOneChangeEach(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	made := b.create(t)
	press := func(act func(context.Context, gateway.AccountID, gateway.Actor, gateway.SourceID) (gateway.Source, error), want gateway.SourceState) {
		t.Helper()
		atOnce(t, 4, nil, func(ctx context.Context) error {
			got, err := act(ctx, b.account, actor, made.ID)
			if err == nil && got.State != want {
				t.Errorf("state %q, want %q", got.State, want)
			}
			return err
		})
	}
	press(b.Pause, gateway.SourcePaused)
	press(b.Resume, gateway.SourceActive)
	b.wantAudit(t, "source.create: github", "source.pause", "source.resume")
}

// insertHeld stores n events of the source that are held.
func (b bundle) insertHeld(t *testing.T, id gateway.SourceID, n int) {
	t.Helper()
	now := b.clock.Now()
	if _, err := b.store.MakePartitions(t.Context(), now.Add(-24*time.Hour), now.Add(24*time.Hour)); err != nil {
		t.Fatal(err)
	}
	events := make([]store.NewEvent, n)
	for i, event := range b.clock.NewIDs(n) {
		events[i].Event = gateway.Event{
			ID: gateway.EventID(event), AccountID: b.account, SourceID: id, Type: "t", Status: gateway.EventHeld,
		}
	}
	err := b.store.InTx(t.Context(), func(tx store.Tx) error { return tx.InsertEvents(t.Context(), events) })
	if err != nil {
		t.Fatal(err)
	}
}

// Whatever is held goes on, in more than one batch, each event with a job;
// what another source holds does not.
func TestResumeReleasesHeldEvents(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	made, other := b.create(t), b.create(t)
	const held = 1001
	b.insertHeld(t, made.ID, held)
	b.insertHeld(t, other.ID, 3)
	b.exec(t, `UPDATE sources SET state = 'paused'`)
	if _, err := b.Resume(t.Context(), b.account, actor, made.ID); err != nil {
		t.Fatal(err)
	}
	var accepted, inJobs, stay int
	err := b.pool.QueryRow(t.Context(), `
		SELECT (SELECT count(*) FROM events WHERE status = 'accepted' AND source_id = $1),
		       (SELECT count(DISTINCT event) FROM river_job, jsonb_array_elements_text(args->'event_ids') AS event WHERE kind = 'process'),
		       (SELECT count(*) FROM events WHERE status = 'held' AND source_id = $2)`, made.ID, other.ID).Scan(&accepted, &inJobs, &stay)
	if err != nil || accepted != held || inJobs != held || stay != 3 {
		t.Errorf("%d accepted, %d in jobs, %d of the other source held, %v", accepted, inJobs, stay, err)
	}
}

// A resume that was cut short is finished by the next press.
func TestResumeOfAnActiveSourceReleasesToo(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	made := b.create(t)
	b.insertHeld(t, made.ID, 2)
	if _, err := b.Resume(t.Context(), b.account, actor, made.ID); err != nil {
		t.Fatal(err)
	}
	var held int
	if err := b.pool.QueryRow(t.Context(), `SELECT count(*) FROM events WHERE status = 'held'`).Scan(&held); err != nil || held != 0 {
		t.Errorf("%d events are held, %v", held, err)
	}
}

func (b bundle) count(t *testing.T, sql string, args ...any) (n int) {
	t.Helper()
	if err := b.pool.QueryRow(t.Context(), sql, args...).Scan(&n); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return n
}

// What a paused source held is let go when it is deleted, each event with a
// job, however many delete it.
func TestDeleteReleasesHeldEvents(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	made, other := b.create(t), b.create(t)
	const held = 1001
	b.insertHeld(t, made.ID, held)
	b.insertHeld(t, other.ID, 3)
	b.exec(t, `UPDATE sources SET state = 'paused'`)
	deleted := atOnce(t, 4, gateway.ErrNotFound, func(ctx context.Context) error { return b.Delete(ctx, b.account, actor, made.ID) })
	if deleted != 1 {
		t.Errorf("deleted %d times", deleted)
	}
	if n := b.count(t, `SELECT count(*) FROM events WHERE status = 'accepted' AND source_id = $1`, made.ID); n != held {
		t.Errorf("%d events go on, want %d", n, held)
	}
	inJobs := b.count(t, `
		SELECT count(*)
		FROM river_job, jsonb_array_elements_text(args->'event_ids')
		WHERE kind = 'process'`)
	if inJobs != held {
		t.Errorf("%d events are in jobs, want %d", inJobs, held)
	}
	if n := b.count(t, `SELECT count(*) FROM events WHERE status = 'held' AND source_id = $1`, other.ID); n != 3 {
		t.Errorf("%d events of the other source are held", n)
	}
}

// A deletion whose process ended before it let go what was held is finished in
// the background; what a source that is there holds stays.
func TestReleaseHeldAfterAnInterruptedDeletion(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	made, other := b.create(t), b.create(t)
	b.insertHeld(t, made.ID, 2)
	b.insertHeld(t, other.ID, 3)
	b.exec(t, `UPDATE sources SET state = 'paused'`)
	err := b.store.InTx(t.Context(), func(tx store.Tx) error { return tx.DeleteSource(t.Context(), b.account, made.ID) })
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		atOnce(t, 4, nil, b.ReleaseHeld)
	}
	if n := b.count(t, `SELECT count(*) FROM events WHERE status = 'held'`); n != 3 {
		t.Errorf("%d events are held, want the other source's 3", n)
	}
	if n := b.count(t, `SELECT count(*) FROM river_job WHERE kind = 'process'`); n != 1 {
		t.Errorf("%d jobs, want 1", n)
	}
}
