package store_test

import (
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/store"
)

func (b bundle) beat(t *testing.T, n store.Node) {
	t.Helper()
	now, err := b.Beat(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	if off := b.clock.Now().Sub(now).Abs(); off > time.Minute || now.Location() != time.UTC {
		t.Errorf("the database's time is %s", now)
	}
}

// A node that was silent for longer than the gap is steady from now on only.
func TestBeat(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	node := store.Node{Name: "n1", Roles: "web,worker", Version: "1"}
	b.beat(t, node)
	const steadySince = `SELECT count(*) FROM nodes WHERE roles = 'web,worker' AND version = '1'
		AND seen_at > now() - interval '1 minute' AND steady_since BETWEEN now() - $1::interval - interval '30 s' AND now() - $1::interval`
	for name, test := range map[string]struct{ silent, steady time.Duration }{
		"in time":  {store.NodeGap - time.Second, time.Hour},
		"too late": {store.NodeGap + time.Second, 0},
	} {
		b.exec(t, 1, `UPDATE nodes SET seen_at = now() - $1::interval, steady_since = now() - interval '1 h'`, test.silent)
		b.beat(t, node)
		if n := b.count(t, steadySince, test.steady); n != 1 {
			t.Errorf("%s: it is not steady for %s", name, test.steady)
		}
	}
}

func TestBeatsAtOnce(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	errs := b.wide(t, 2*poolSize).atOnce(t.Context(), poolSize, func(store.Tx, int) error {
		_, err := b.Beat(t.Context(), store.Node{Name: "same"})
		return err
	})
	wantErrors(t, errs, poolSize, nil)
	if n := b.count(t, `SELECT count(*) FROM nodes`); n != 1 {
		t.Errorf("%d nodes, want 1", n)
	}
}

func TestOtherNodes(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	others := func(want bool, when string) {
		t.Helper()
		if got, err := b.OtherNodes(t.Context(), "me"); err != nil || got != want {
			t.Errorf("%s: %t, %v, want %t", when, got, err, want)
		}
	}
	others(false, "no node")
	b.beat(t, store.Node{Name: "me", Roles: "worker"})
	others(false, "alone")
	b.beat(t, store.Node{Name: "web", Roles: "web,api"})
	others(false, "the other has another role")
	b.beat(t, store.Node{Name: "worker", Roles: "web,worker"})
	others(true, "another worker")
	b.exec(t, 1, `UPDATE nodes SET seen_at = now() - $1::interval WHERE node = 'worker'`, store.NodeGap+time.Second)
	others(false, "the other worker is silent")
	b.beat(t, store.Node{Name: "worker", Roles: "web,worker"})
	if err := b.LeaveNode(t.Context(), "worker"); err != nil {
		t.Error(err)
	}
	others(false, "the other worker has left")
}

func TestForgetNodes(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.beat(t, store.Node{Name: "old"})
	b.beat(t, store.Node{Name: "new"})
	b.exec(t, 1, `UPDATE nodes SET seen_at = now() - interval '2 h' WHERE node = 'old'`)
	if err := b.ForgetNodes(t.Context(), time.Hour); err != nil {
		t.Fatal(err)
	}
	if n := b.count(t, `SELECT count(*) FROM nodes WHERE node = 'new'`) - b.count(t, `SELECT count(*) FROM nodes WHERE node = 'old'`); n != 1 {
		t.Error("the old node is known, or the new one is not")
	}
}
