package store_test

import (
	"errors"
	"testing"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/pgtest"
	"github.com/rowlock/rowlock/internal/secret"
	"github.com/rowlock/rowlock/internal/store"
)

// A node that was told nothing opens what a fresh key has sealed, also when
// others hold all of the pool's connections but its own.
func TestAStaleNodeOpensWhatWasSealedAnew(t *testing.T) {
	t.Parallel()
	b, sealer := newSealed(t)
	check := b.sealedWorld(t)
	stale := sealer.KeyID()
	s := b.rotated(t, sealer)
	resealAll(t, s)
	e := b.newEndpoint(t)
	b.addSecretWith(t, s, e.ID, "fresh")
	if sealer.KeyID() != stale {
		t.Fatal("the node has followed before it was asked")
	}
	// Each of as many transactions as there are connections needs the key.
	errs := b.atOnce(t.Context(), poolSize, func(tx store.Tx, _ int) error {
		live, err := tx.EndpointSecrets(t.Context(), b.account, e.ID)
		if err == nil && (len(live) != 1 || live[0].Value != "fresh") {
			err = errors.New("another secret")
		}
		return err
	})
	wantErrors(t, errs, poolSize, nil)
	check(t, b.Store)
	if sealer.KeyID() == stale {
		t.Error("the node still seals with the former key")
	}
}

// addSecretWith seals a secret as another node does.
func (b bundle) addSecretWith(t *testing.T, s *store.Store, endpoint gateway.EndpointID, value string) {
	t.Helper()
	if err := s.InTx(t.Context(), func(tx store.Tx) error {
		return b.addEndpointSecret(t.Context(), tx, endpoint, b.secret(value))
	}); err != nil {
		t.Fatal(err)
	}
}

func TestFollowKeyset(t *testing.T) {
	t.Parallel()
	b, sealer := newSealed(t)
	if err := b.FollowKeyset(t.Context()); !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("without a keyset: %v", err)
	}
	wrapped, err := sealer.Rewrap()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.Keyset(t.Context(), b.pool, wrapped); err != nil {
		t.Fatal(err)
	}
	first := sealer.KeyID()
	if err := b.FollowKeyset(t.Context()); err != nil || sealer.KeyID() != first {
		t.Errorf("nothing was rotated: %v, %s", err, sealer.KeyID())
	}
	s := b.rotated(t, sealer)
	if err := b.FollowKeyset(t.Context()); err != nil || sealer.KeyID() == first {
		t.Errorf("after a rotation: %v, still %s", err, sealer.KeyID())
	}
	e := b.newEndpoint(t)
	b.addSecretWith(t, b.Store, e.ID, "by the node")
	if live, err := s.EndpointSecrets(t.Context(), b.account, e.ID); err != nil || live[0].Value != "by the node" {
		t.Errorf("%v, %v", live, err)
	}
	if step := resealAll(t, s); step.Found != 0 {
		t.Errorf("the node sealed with the former key: %+v", step)
	}
}

// A node that has not got the new master key says so. It does not say that the
// secret is broken, which would end deliveries.
func TestANodeWithoutTheMasterKeySaysSo(t *testing.T) {
	t.Parallel()
	b, sealer := newSealed(t)
	e := b.newEndpoint(t)
	s := b.rotated(t, sealer)
	b.addSecretWith(t, s, e.ID, "fresh")
	foreign, err := secret.NewKeyset(secret.MasterKey{9})
	if err != nil {
		t.Fatal(err)
	}
	b.exec(t, 1, `UPDATE keyset SET wrapped = $1`, foreign)
	_, err = b.EndpointSecrets(t.Context(), b.account, e.ID)
	if !errors.Is(err, secret.ErrWrongMasterKey) || errors.Is(err, secret.ErrUnsealable) {
		t.Errorf("reading: %v, want ErrWrongMasterKey", err)
	}
	if err := b.FollowKeyset(t.Context()); !errors.Is(err, secret.ErrWrongMasterKey) {
		t.Errorf("following: %v, want ErrWrongMasterKey", err)
	}
}

// What claims to be sealed with a key that nobody has is looked for once.
func TestAnUnknownKeyIsLookedForOnce(t *testing.T) {
	t.Parallel()
	b, kept := newRecorded(t)
	e := b.newEndpoint(t)
	s := b.addSecret(t, e.ID, "broken")
	b.exec(t, 1, `UPDATE endpoint_secrets SET sealed = '\x01deadbeef' || substr(sealed, 6) WHERE id = $1`, s.ID)
	kept.begin("reading")
	for range 3 {
		if _, err := b.EndpointSecrets(t.Context(), b.account, e.ID); !errors.Is(err, secret.ErrUnsealable) {
			t.Errorf("%v, want ErrUnsealable", err)
		}
	}
	looked := 0
	for _, sent := range kept.statements {
		if sent.call == "reading" && sent.sql == "SELECT wrapped FROM keyset WHERE singleton" {
			looked++
		}
	}
	if looked != 1 {
		t.Errorf("the keyset was read %d times, want once", looked)
	}
}

func TestReplaceKeyset(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	if _, err := store.StoredKeyset(t.Context(), b.pool); !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("none: %v", err)
	}
	if _, err := store.Keyset(t.Context(), b.pool, []byte("first")); err != nil {
		t.Fatal(err)
	}
	// Of many that were made of the same one takes its place, now and later.
	replace := func(tx store.Tx, read, next string, key secret.KeyID, fresh bool) error {
		replaced, err := tx.ReplaceKeyset(t.Context(), []byte(read), []byte(next), key, fresh)
		if err == nil && !replaced {
			err = gateway.ErrStateChanged
		}
		return err
	}
	wantErrors(t, b.atOnce(t.Context(), poolSize, func(tx store.Tx, i int) error {
		return replace(tx, "first", "second", secret.KeyID(i), true)
	}), 1, gateway.ErrStateChanged)
	state, err := store.StoredKeyset(t.Context(), b.pool)
	if err != nil || string(state.Wrapped) != "second" || !state.Unfinished() {
		t.Errorf("%+v, %v", state, err)
	}
	b.in(t, func(tx store.Tx) error { return replace(tx, "second", "third", 7, false) })
	for _, c := range []struct {
		key  secret.KeyID
		want bool
	}{{8, false}, {7, true}, {7, true}} {
		if ours, err := b.Resealed(t.Context(), c.key); err != nil || ours != c.want {
			t.Errorf("all is sealed with %s: %t, %v", c.key, ours, err)
		}
	}
	if state, err = store.StoredKeyset(t.Context(), b.pool); err != nil || state.Unfinished() || state.ResealedAt == nil {
		t.Errorf("in the end: %+v, %v", state, err)
	}
	b.in(t, func(tx store.Tx) error { return replace(tx, "third", "fourth", 9, true) })
	if state, err = store.StoredKeyset(t.Context(), b.pool); err != nil || !state.Unfinished() {
		t.Errorf("rotated again: %+v, %v", state, err)
	}
}

func TestOneRotatesAtATime(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	releases := make(chan func(), poolSize)
	pgtest.AtOnce(poolSize, func(int) {
		release, ok, err := b.LockRotation(t.Context())
		switch {
		case err != nil:
			t.Error(err)
		case ok:
			releases <- release
		}
	})
	if len(releases) != 1 {
		t.Fatalf("%d hold the lock, want one", len(releases))
	}
	(<-releases)()
	pgtest.Until(t, "the lock is free again", func() bool {
		release, ok, err := b.LockRotation(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if ok {
			release()
		}
		return ok
	})
}

// A node tells which keys it has for as long as it is alive.
func TestKeysOfNodes(t *testing.T) {
	t.Parallel()
	b, sealer := newSealed(t)
	for _, name := range []string{"b", "a", "gone"} {
		if _, err := b.Beat(t.Context(), store.Node{Name: name}); err != nil {
			t.Fatal(err)
		}
	}
	b.exec(t, 1, `UPDATE nodes SET seen_at = now() - interval '1 minute' WHERE node = 'gone'`)
	b.exec(t, 1, `UPDATE nodes SET key_id = NULL, master_keys = NULL WHERE node = 'b'`) // of an older version
	nodes, err := b.KeysOfNodes(t.Context())
	if err != nil || len(nodes) != 2 || nodes[0].Name != "a" || nodes[0].Key == nil || *nodes[0].Key != sealer.KeyID() ||
		len(nodes[0].Masters) != 1 || nodes[0].Masters[0] != sealer.Masters()[0] || nodes[1].Key != nil {
		t.Errorf("%+v, %v", nodes, err)
	}
}
