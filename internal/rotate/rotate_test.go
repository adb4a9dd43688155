package rotate_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/pgtest"
	"github.com/rowlock/rowlock/internal/rotate"
	"github.com/rowlock/rowlock/internal/secret"
	"github.com/rowlock/rowlock/internal/store"
)

// wantDone fails unless a rotation came to its end: all opens with the present
// master key alone, and nothing is sealed with an older key.
func (b *bundle) wantDone(t *testing.T) secret.KeyID {
	t.Helper()
	if _, err := os.Stat(filepath.Join(b.dir, "master.key.previous")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the former master key is still there: %v", err)
	}
	s, sealer := b.nodeWith(t, b.masters)
	if sealer.Outdated() {
		t.Error("the keyset is wrapped by the former master key")
	}
	if n := b.older(t, sealer.KeyID()); n != 0 {
		t.Errorf("%d secrets are sealed with an older key", n)
	}
	if err := b.readable(t.Context(), s); err != nil {
		t.Error(err)
	}
	if state, err := store.StoredKeyset(t.Context(), b.pool); err != nil || state.Unfinished() || state.ResealedAt == nil {
		t.Errorf("the database says that it has not come to its end: %+v, %v", state, err)
	}
	return sealer.KeyID()
}

func TestRotate(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.fill(t, secretsKept)
	before, _, err := b.masters()
	if err != nil {
		t.Fatal(err)
	}
	_, sealer := b.nodeWith(t, b.masters)
	report, err := rotate.Run(t.Context(), b.options(t))
	if err != nil {
		t.Fatal(err)
	}
	key := b.wantDone(t)
	if after, _, err := b.masters(); err != nil || after == before {
		t.Errorf("the master key is the same, %v", err)
	}
	if report.Key != key || key == sealer.KeyID() || report.Older != 1 || !report.MasterReplaced || report.Resealed[0].N != secretsKept || report.Continued {
		t.Errorf("report: %+v", report)
	}
	var out bytes.Buffer
	if _, err := report.WriteTo(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"master key   replaced", key.String() + " seals from now on; 1 older kept for reading, 0 removed",
		"230 endpoint secrets, 0 authorizations, 0 source secrets, 0 mails, 0 alert channels, 0 keys of two-step log-in, 0 messages for browsers", "0 of 0 running", "nothing is sealed with an older key",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the report does not say %q:\n%s", want, out.String())
		}
	}
	// Once more is a rotation of its own.
	if again, err := rotate.Run(t.Context(), b.options(t)); err != nil || again.Key == key || again.Older != 2 || again.Forgotten != 0 {
		t.Errorf("again: %+v, %v", again, err)
	}
	b.wantDone(t)
}

// A rotation that ends anywhere, as by a crash, can be run again and comes to
// its end; until then, everything opens, for nodes that run and for new ones.
func TestRotateAfterACrashAnywhere(t *testing.T) {
	t.Parallel()
	var steps []string
	b := newBundle(t)
	b.fill(t, secretsKept)
	if _, err := rotate.Run(t.Context(), rotate.Interrupted(b.options(t), func(step string) error {
		steps = append(steps, step)
		return nil
	})); err != nil {
		t.Fatal(err)
	}
	if len(steps) != 9+8+7 { // the second pass finds one batch less
		t.Fatalf("the steps are %q", steps)
	}
	crash := errors.New("crash")
	for at, step := range steps {
		running := b.node(t)
		seen := 0
		_, err := rotate.Run(t.Context(), rotate.Interrupted(b.options(t), func(string) error {
			if seen++; seen > at {
				return crash
			}
			return nil
		}))
		if !errors.Is(err, crash) {
			t.Fatalf("before %q: %v", step, err)
		}
		for name, s := range map[string]*store.Store{"a running": running, "a new": b.node(t)} {
			if err := b.readable(t.Context(), s); err != nil {
				t.Errorf("before %q, %s node: %v", step, name, err)
			}
		}
		if _, err := rotate.Run(t.Context(), b.options(t)); err != nil {
			t.Fatalf("again, after a crash before %q: %v", step, err)
		}
		b.wantDone(t)
		if err := b.readable(t.Context(), running); err != nil {
			t.Errorf("in the end, the node that ran: %v", err)
		}
	}
}

// Nodes read and write secrets all the while, one of them without being told
// anything, and nothing is ever unreadable.
func TestRotateWhileNodesRun(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.fill(t, 50)
	nodes := []*store.Store{b.node(t), b.node(t), b.node(t)}
	for i, s := range nodes {
		keepsBeating(t, s, string(rune('a'+i)), true)
	}
	stop, rounds := make(chan struct{}), atomic.Int64{}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		pgtest.AtOnce(len(nodes), func(i int) {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if err := errors.Join(b.readable(t.Context(), nodes[i]), b.replaceOne(t.Context(), nodes[i], i)); err != nil {
					t.Errorf("node %d: %v", i, err)
					return
				}
				rounds.Add(1)
			}
		})
	}()
	for range 3 {
		at := rounds.Load()
		if report, err := rotate.Run(t.Context(), b.options(t)); err != nil || report.Nodes != len(nodes) {
			t.Errorf("%+v, %v", report, err)
		}
		b.wantDone(t)
		pgtest.Until(t, "the nodes go on", func() bool { return t.Failed() || rounds.Load() > at+10 })
	}
	close(stop)
	<-ended
}

// replaceOne ends a secret of a node's own endpoint and adds another.
func (b *bundle) replaceOne(ctx context.Context, s *store.Store, i int) error {
	endpoint := b.endpoints[i]
	return s.InTx(ctx, func(tx store.Tx) error {
		live, err := tx.EndpointSecrets(ctx, b.account, endpoint)
		if err != nil {
			return err
		}
		if _, err := tx.EndEndpointSecret(ctx, b.account, endpoint, live[len(live)-1].ID); err != nil {
			return err
		}
		return b.addSecret(ctx, tx, endpoint)
	})
}

// exchangeBlindly puts another secret in the place of one, by a node that opens
// none and so goes on sealing with the key that it has.
func (b *bundle) exchangeBlindly(t *testing.T, s *store.Store) {
	t.Helper()
	if _, err := b.pool.Exec(t.Context(), `
		DELETE FROM endpoint_secrets
		WHERE id = (SELECT min(id::text)::uuid FROM endpoint_secrets WHERE endpoint_id = $1)`, b.endpoints[0]); err != nil {
		t.Fatal(err)
	}
	b.in(t, s, func(tx store.Tx) error { return b.addSecret(t.Context(), tx, b.endpoints[0]) })
}

func TestOneRotationAtATime(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.fill(t, 20)
	inside, leave := make(chan struct{}), make(chan struct{})
	first := make(chan error, 1)
	o := rotate.Interrupted(b.options(t), func(step string) error {
		if step == "seal anew" {
			close(inside)
			<-leave
		}
		return nil
	})
	go func() {
		_, err := rotate.Run(context.WithoutCancel(t.Context()), o)
		first <- err
	}()
	<-inside
	if _, err := rotate.Run(t.Context(), b.options(t)); !errors.Is(err, rotate.ErrRunning) {
		t.Errorf("the second one: %v, want ErrRunning", err)
	}
	close(leave)
	if err := <-first; err != nil {
		t.Errorf("the first one: %v", err)
	}
	b.wantDone(t)
}

// While a node runs that could not open the rotated keyset, nothing is rotated.
func TestRotateWaitsForTheMasterKey(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.fill(t, 20)
	old, _, err := b.masters()
	if err != nil {
		t.Fatal(err)
	}
	fixed := func(current secret.MasterKey, previous ...secret.MasterKey) secret.MasterKeys {
		return func() (secret.MasterKey, []secret.MasterKey, error) { return current, previous, nil }
	}
	next := secret.MasterKey{4, 5, 6}
	behind, sealer := b.nodeWith(t, fixed(old))
	keepsBeating(t, behind, "behind", false)
	ready, _ := b.nodeWith(t, fixed(next, old))
	keepsBeating(t, ready, "ready", true)
	o := rotate.Options{Store: b.node(t), Masters: fixed(next, old)}
	var blind *rotate.NodesError
	if _, err := rotate.Run(t.Context(), o); !errors.As(err, &blind) || len(blind.Names) != 1 || blind.Names[0] != "behind" {
		t.Fatalf("%v, want a NodesError about one node", err)
	}
	if state, err := store.StoredKeyset(t.Context(), b.pool); err != nil || state.RotatedAt != nil {
		t.Errorf("something was changed: %+v, %v", state, err)
	}
	if err := b.readable(t.Context(), behind); err != nil || b.older(t, sealer.KeyID()) != 0 {
		t.Errorf("something was sealed anew, or %v", err)
	}
}

// A node that does not follow keeps a rotation from its end. What it seals
// meanwhile can be read, and the next run finds it.
func TestRotateTellsOfLateNodes(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.fill(t, 20)
	slow := b.node(t)
	keepsBeating(t, slow, "slow", false)
	var late *rotate.LateError
	report, err := rotate.Run(t.Context(), rotate.Impatient(b.options(t), time.Millisecond))
	if !errors.As(err, &late) || len(late.Names) != 1 || late.Names[0] != "slow" || report.Nodes != 1 {
		t.Fatalf("%+v, %v; want a LateError", report, err)
	}
	if _, err := os.Stat(filepath.Join(b.dir, "master.key.previous")); err != nil {
		t.Errorf("the former master key: %v", err)
	}
	// It seals with the former key once more, without having opened anything.
	b.exchangeBlindly(t, slow)
	if n := b.older(t, report.Key); n != 1 {
		t.Fatalf("%d secrets are sealed with the former key, want the one", n)
	}
	if err := errors.Join(b.readable(t.Context(), b.node(t)), slow.FollowKeyset(t.Context())); err != nil {
		t.Fatal(err)
	}
	again, err := rotate.Run(t.Context(), b.options(t))
	if err != nil || again.Key != report.Key || !again.Continued {
		t.Errorf("again: %+v, %v; want the same key %s", again, err, report.Key)
	}
	b.wantDone(t)
}

// Keys that seal nothing go after a while, and not before.
func TestRotateForgetsKeys(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.fill(t, 20)
	run := func(wantOlder, wantForgotten int) {
		t.Helper()
		if report, err := rotate.Run(t.Context(), b.options(t)); err != nil || report.Older != wantOlder || report.Forgotten != wantForgotten {
			t.Errorf("%+v, %v; want %d kept and %d removed", report, err, wantOlder, wantForgotten)
		}
		b.wantDone(t)
	}
	old := func() {
		t.Helper()
		if _, err := b.pool.Exec(t.Context(), `UPDATE keyset SET rotated_at = rotated_at - $1::interval`, rotate.ForgetAfter+time.Minute); err != nil {
			t.Fatal(err)
		}
	}
	_, sealer := b.nodeWith(t, b.masters)
	run(1, 0)
	run(2, 0)
	old()
	// A secret that is still sealed with the first key keeps it.
	first, err := store.New(b.pool, sealer, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	b.exchangeBlindly(t, first)
	run(3, 0)
	old()
	run(1, 3)
}

// A secret that opens with no key is told of, and keeps nothing from its end.
func TestRotateLeavesWhatDoesNotOpen(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.fill(t, 20)
	if _, err := b.pool.Exec(t.Context(), `
		UPDATE endpoint_secrets
		SET sealed = '\x01deadbeef' || substr(sealed, 6), ends_at = now()
		WHERE id = (SELECT id FROM endpoint_secrets LIMIT 1)`); err != nil {
		t.Fatal(err)
	}
	report, err := rotate.Run(t.Context(), b.options(t))
	if err != nil || len(report.Unsealable) != 1 || report.Unsealable[0] != (rotate.Count{Of: "endpoint secrets", N: 1}) || report.Resealed[0].N != 19 {
		t.Errorf("%+v, %v", report, err)
	}
}
