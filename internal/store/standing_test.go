package store_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/job"
	"github.com/rowlock/rowlock/internal/store"
)

// A database where nothing happens stands at nothing.
func TestStandingOfNothing(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	got, err := b.Standing(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(store.Standing{DaysAhead: 2, Jobs: []store.JobStanding{}}, got); diff != "" {
		t.Error(diff)
	}
}

// What is due, open, undecided, in doubt and queued is told, and what is held is
// not due.
func TestStanding(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	due, held := b.newEndpoint(t), b.newEndpoint(t)
	b.queued(t, due.ID, 3)
	b.queued(t, held.ID, 2)
	b.exec(t, 1, `UPDATE endpoints SET state = 'paused' WHERE id = $1`, held.ID)
	b.exec(t, 5, `UPDATE deliveries SET next_attempt_at = now() - interval '100 s'`)
	b.exec(t, 1, `UPDATE deliveries SET priority = 1, next_attempt_at = now() - interval '200 s'
		WHERE id = (SELECT min(id::text)::uuid FROM deliveries WHERE endpoint_id = $1)`, due.ID)
	b.exec(t, 2, `UPDATE lanes SET wake_at = now() WHERE endpoint_id = ANY ($1)`, []gateway.EndpointID{due.ID, held.ID})
	b.accepted(t, b.newSource(t).ID, 2)
	b.exec(t, 2, `UPDATE events SET decide_after = now() - interval '50 s' WHERE status = 'accepted'`)
	b.in(t, func(tx store.Tx) error { return tx.Enqueue(t.Context(), job.Process{}, job.Process{}) })
	b.inDoubt(t)
	if made, err := b.MakePartitions(t.Context(), b.clock.Now(), b.clock.Now().AddDate(0, 0, 5)); err != nil || made == 0 {
		t.Fatalf("%d days made, %v", made, err)
	}

	got, err := b.Standing(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct{ got, want time.Duration }{
		"first":     {got.DueFor[gateway.PriorityFirst], 100 * time.Second},
		"retry":     {got.DueFor[gateway.PriorityRetry], 200 * time.Second},
		"bulk":      {got.DueFor[gateway.PriorityBulk], 0},
		"undecided": {got.UndecidedFor, 50 * time.Second},
	} {
		if c.got < c.want || c.want == 0 && c.got != 0 || c.got > c.want+time.Minute {
			t.Errorf("%s waits for %s, want %s", what, c.got, c.want)
		}
	}
	got.DueFor, got.UndecidedFor = [3]time.Duration{}, 0
	want := store.Standing{
		Pending: 3, Held: 2, SingleFireInDoubt: 1, LedgerInDoubt: 2, DaysAhead: 5,
		Jobs: []store.JobStanding{{Queue: job.QueueProcess, State: "available", Jobs: 2}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// An event whose job was lost and replaced waits since it came: its turn was put
// off, and not what it waits for.
func TestStandingOfAnEventThatWasSwept(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.accepted(t, b.newSource(t).ID, 1)
	b.exec(t, 1, `UPDATE events SET sweeps = 3, decide_after = now() + interval '10 min'`)
	got, err := b.Standing(t.Context())
	if err != nil || got.UndecidedFor <= 0 {
		t.Errorf("it waits for %s, %v", got.UndecidedFor, err)
	}
}

// inDoubt makes three claims whose lease has ended, one of a single-fire type,
// and one whose lease lasts.
func (b bundle) inDoubt(t *testing.T) {
	t.Helper()
	b.exec(t, 4, `
		INSERT INTO claims (id, account_id, scope, key_hash, key, event_type, subject, state, holder, fence, on_doubt, claimed_at, lease_expires_at)
		SELECT gen_random_uuid(), $1, 's', decode(md5(n::text), 'hex'), n::text, CASE WHEN n = 1 THEN 'a.b' END, CASE WHEN n = 1 THEN 'x' END,
		       'in_progress', 'h', 1, 'resend', now(), now() + CASE WHEN n = 4 THEN interval '1 hour' ELSE interval '-1 s' END
		FROM generate_series(1, 4) n`, b.account)
}
