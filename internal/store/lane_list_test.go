package store_test

import (
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

func TestLaneStates(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	if lanes, err := b.LaneStates(t.Context(), 10); err != nil || len(lanes) != 0 {
		t.Errorf("without an endpoint: %+v, %v", lanes, err)
	}
	wants := map[gateway.EndpointID]struct {
		name  string
		stuck bool
	}{}
	lane := func(name string, stuck bool, set string) {
		t.Helper()
		e := b.newEndpoint(t)
		b.exec(t, 1, `UPDATE lanes SET `+set+` WHERE endpoint_id = $1`, e.ID)
		wants[e.ID] = struct {
			name  string
			stuck bool
		}{name, stuck}
	}
	lane("alarm to come", false, `wake_at = now() + interval '1 minute'`)
	lane("alarm just now", false, `wake_at = now() - interval '5 s'`)
	lane("alarm overdue", true, `wake_at = now() - interval '11 s'`)
	lane("lease just ended", false, `node = 'n', leased_until = now() - interval '5 s', wake_at = now() - interval '5 s'`)
	lane("lease abandoned", true, `node = 'n', leased_until = now() - interval '16 s', wake_at = now() - interval '1 s'`)
	lane("sleeping", false, `wake_at = now() + interval '8 s', sleep_until = now() + interval '8 s', failed_probes = 3`)
	held := b.newEndpoint(t)
	b.acquire(t, held.ID, "holder")
	wants[held.ID] = struct {
		name  string
		stuck bool
	}{"held", false}
	idle, paused := b.newEndpoint(t), b.newEndpoint(t)
	b.exec(t, 1, `UPDATE lanes SET wake_at = now() - interval '1 hour' WHERE endpoint_id = $1`, paused.ID)
	b.exec(t, 1, `UPDATE endpoints SET state = 'paused' WHERE id = $1`, paused.ID)

	lanes, err := b.LaneStates(t.Context(), 20)
	if err != nil || len(lanes) != len(wants) {
		t.Fatalf("%d lanes, %v; want %d", len(lanes), err, len(wants))
	}
	for i, l := range lanes {
		want := wants[l.EndpointID]
		if l.Stuck != want.stuck || l.AccountID != b.account || l.AccountName == "" || l.URL == "" || (i < 2) != l.Stuck {
			t.Errorf("%d, %s: %+v", i, want.name, l)
		}
		if l.EndpointID == idle.ID || l.EndpointID == paused.ID {
			t.Errorf("a lane that waits for nothing is listed: %+v", l)
		}
		if l.EndpointID == held.ID && (l.Node == nil || *l.Node != "holder" || l.HeldSince == nil || l.LeasedUntil == nil || l.Fence != 1) {
			t.Errorf("the held one: %+v", l)
		}
		if (l.SleepUntil != nil) != (want.name == "sleeping") {
			t.Errorf("%s sleeps until %v", want.name, l.SleepUntil)
		}
	}
	counts, err := b.CountLanes(t.Context())
	if want := (store.LaneCounts{Held: 3, Sleeping: 1, Waiting: 3, Stuck: 2}); err != nil || counts != want {
		t.Errorf("counts are %+v, %v; want %+v", counts, err, want)
	}
	if few, err := b.LaneStates(t.Context(), 1); err != nil || len(few) != 1 || !few[0].Stuck {
		t.Errorf("the first: %+v, %v", few, err)
	}
}

// A lane is held since it was taken, by whoever holds it now, and by nobody
// once it is given back.
func TestHeldSince(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e := b.newEndpoint(t)
	b.acquire(t, e.ID, "n")
	b.exec(t, 1, `UPDATE lanes SET held_since = now() - interval '1 hour' WHERE endpoint_id = $1`, e.ID)
	lane := b.acquire(t, e.ID, "n")
	if n := b.count(t, `SELECT count(*) FROM lanes WHERE held_since > now() - interval '1 minute'`); n != 1 {
		t.Error("taken again, it is still held since the first time")
	}
	if _, mine, err := b.ReleaseLane(t.Context(), lane); err != nil || !mine {
		t.Fatal(mine, err)
	}
	if n := b.count(t, `SELECT count(*) FROM lanes WHERE held_since IS NULL`); n != 1 {
		t.Error("given back, it is held since some time")
	}
}

// Work that is due and that nothing will wake is found.
func TestSilentLanes(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	busy, idle := b.newEndpoint(t), b.newEndpoint(t)
	b.sentTo(t, busy.ID)
	silence := func(e gateway.EndpointID) {
		b.exec(t, 1, `UPDATE lanes SET wake_at = NULL, leased_until = NULL WHERE endpoint_id = $1`, e)
	}
	silence(busy.ID)
	silence(idle.ID)
	if lanes, err := b.SilentLanes(t.Context(), 10); err != nil || len(lanes) != 0 {
		t.Errorf("its job may be on the way: %+v, %v", lanes, err)
	}
	b.exec(t, 1, `UPDATE deliveries SET next_attempt_at = now() - interval '11 s'`)
	lanes, err := b.SilentLanes(t.Context(), 10)
	if err != nil || len(lanes) != 1 || lanes[0].EndpointID != busy.ID || !lanes[0].Stuck {
		t.Errorf("%+v, %v", lanes, err)
	}
	if n, err := b.RepairLanes(t.Context()); err != nil || n != 1 {
		t.Errorf("repaired %d, %v", n, err)
	}
	if lanes, err := b.SilentLanes(t.Context(), 10); err != nil || len(lanes) != 0 {
		t.Errorf("after the repair: %+v, %v", lanes, err)
	}
}

func TestNodes(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	for _, name := range []string{"settling", "steady", "silent"} {
		if _, err := b.Beat(t.Context(), store.Node{Name: name, Roles: "worker", Version: "v1"}); err != nil {
			t.Fatal(err)
		}
	}
	b.exec(t, 2, `UPDATE nodes SET steady_since = now() - interval '1 minute', started_at = now() - interval '1 minute' WHERE node <> 'settling'`)
	b.exec(t, 1, `UPDATE nodes SET seen_at = now() - interval '1 minute' WHERE node = 'silent'`)
	b.acquire(t, b.newEndpoint(t).ID, "steady")
	nodes, err := b.Nodes(t.Context())
	if err != nil || len(nodes) != 3 || nodes[0].Name != "settling" {
		t.Fatalf("%+v, %v", nodes, err)
	}
	for _, n := range nodes {
		if n.Alive != (n.Name != "silent") || n.Steady != (n.Name != "settling") || (n.Held == 1) != (n.Name == "steady") || n.Version != "v1" || time.Since(n.SeenAt) > time.Hour {
			t.Errorf("%+v", n)
		}
	}
}

func TestJobCounts(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	if counts, err := b.JobCounts(t.Context()); err != nil || len(counts) != 0 {
		t.Errorf("an empty queue: %+v, %v", counts, err)
	}
	b.exec(t, 3, `INSERT INTO river_job (kind, queue, max_attempts, args) SELECT 'deliver', 'deliver', 1, '{}' FROM generate_series(1, 3)`)
	b.exec(t, 1, `INSERT INTO river_job (kind, queue, max_attempts, args, state, finalized_at) VALUES ('mail', 'mail', 1, '{}', 'discarded', now())`)
	counts, err := b.JobCounts(t.Context())
	if err != nil || len(counts) != 2 || counts[0].Kind != "deliver" || counts[0].State != "available" || counts[0].Jobs != 3 || counts[0].Oldest.IsZero() ||
		counts[1].Queue != "mail" || counts[1].State != "discarded" || counts[1].Jobs != 1 {
		t.Errorf("%+v, %v", counts, err)
	}
}
