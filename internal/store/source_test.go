package store_test

import (
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

func TestSourceIsStoredAsGiven(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	uid := "shop"
	want := gateway.Source{
		ID: gateway.SourceID(b.clock.NewID()), AccountID: b.account, UID: &uid, Name: "Shop", Kind: "hmac",
		Token: "token", Settings: []byte(`{"header":"X-Sig"}`), State: gateway.SourceActive,
	}
	b.in(t, func(tx store.Tx) error {
		made, err := tx.CreateSource(t.Context(), b.account, want)
		if diff := cmp.Diff(want, made, ignoreTimes); diff != "" {
			t.Error(diff)
		}
		return err
	})
	want.Name, want.Settings, want.UID = "Shop 2", []byte(`{}`), nil
	b.in(t, func(tx store.Tx) error {
		_, err := tx.UpdateSource(t.Context(), b.account, want)
		return err
	})
	read, err := b.Source(t.Context(), b.account, want.ID)
	if diff := cmp.Diff(want, read, ignoreTimes); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
}

func TestSourceUID(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	uid := "mine"
	create := func(tx store.Tx, _ int) error {
		id := gateway.SourceID(b.clock.NewID())
		_, err := tx.CreateSource(t.Context(), b.account, gateway.Source{ID: id, UID: &uid, Kind: "none", Token: id.String()})
		return err
	}
	wantErrors(t, b.atOnce(t.Context(), 5, create), 1, gateway.ErrUIDTaken)
	found, err := b.SourceByUID(t.Context(), b.account, uid)
	if err != nil {
		t.Fatal(err)
	}
	b.in(t, func(tx store.Tx) error { return tx.DeleteSource(t.Context(), b.account, found.ID) })
	if _, err := b.SourceByUID(t.Context(), b.account, uid); !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("a deleted source is found by its uid: %v", err)
	}
	wantErrors(t, b.atOnce(t.Context(), 1, create), 1, nil)
}

func TestAccountHasOneAPISource(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	api := func(tx store.Tx, _ int) error {
		id := gateway.SourceID(b.clock.NewID())
		_, err := tx.CreateSource(t.Context(), b.account, gateway.Source{ID: id, Kind: gateway.SourceKindAPI, Token: id.String()})
		return err
	}
	made := 0
	for _, err := range b.atOnce(t.Context(), 4, api) {
		if err == nil {
			made++
		}
	}
	if made != 1 {
		t.Errorf("%d built-in sources", made)
	}
	sources, err := b.Sources(t.Context(), b.account, store.Page[gateway.SourceID]{Limit: 9})
	if err != nil || len(sources) != 1 {
		t.Fatalf("%d sources are listed, %v", len(sources), err)
	}
	if _, _, err := b.SourceByToken(t.Context(), sources[0].Token); !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("the built-in source is found by a token: %v", err)
	}
}

func TestSourceByToken(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	source := b.newSource(t)
	old, newest := b.secret("old"), b.secret("new")
	b.in(t, func(tx store.Tx) error {
		return errors.Join(
			b.addSourceSecret(t.Context(), tx, source.ID, old),
			b.addSourceSecret(t.Context(), tx, source.ID, newest))
	})
	find := func(want ...string) {
		t.Helper()
		got, live, err := b.SourceByToken(t.Context(), source.Token)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(source, got); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(want, values(live)); diff != "" {
			t.Error(diff)
		}
	}
	find("new", "old")
	end := func(overlap time.Duration) {
		b.in(t, func(tx store.Tx) error {
			return tx.EndSourceSecrets(t.Context(), b.account, source.ID, overlap, newest.ID)
		})
	}
	end(time.Hour)
	find("new", "old")
	end(0)
	find("new")
	b.in(t, func(tx store.Tx) error { return tx.DeleteSource(t.Context(), b.account, source.ID) })
	for _, token := range []string{source.Token, "unknown", ""} {
		if _, _, err := b.SourceByToken(t.Context(), token); !errors.Is(err, gateway.ErrNotFound) {
			t.Errorf("token %q: %v, want ErrNotFound", token, err)
		}
	}
	if n := b.count(t, `SELECT count(*) FROM source_secrets WHERE ends_at IS NULL OR ends_at > now()`); n != 0 {
		t.Errorf("%d secrets of a deleted source are live", n)
	}
}

func TestSetSourceState(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	source := b.newSource(t)
	for _, state := range []gateway.SourceState{gateway.SourcePaused, gateway.SourceActive} {
		var changed atomic.Int32
		errs := b.atOnce(t.Context(), 5, func(tx store.Tx, _ int) error {
			did, err := tx.SetSourceState(t.Context(), b.account, source.ID, state)
			if did {
				changed.Add(1)
			}
			return err
		})
		wantErrors(t, errs, 5, nil)
		got, err := b.Source(t.Context(), b.account, source.ID)
		if err != nil || got.State != state || changed.Load() != 1 {
			t.Errorf("state %q, %v; changed %d times", got.State, err, changed.Load())
		}
	}
}

// A source that was paused holds nothing once it is deleted: a decision that is
// holding an event is waited for, and what comes in later is decided.
func TestDeletedSourceHoldsNothing(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	source := b.newSource(t).ID
	first := b.accepted(t, source, 1)[0]
	b.in(t, func(tx store.Tx) error {
		_, err := tx.SetSourceState(t.Context(), b.account, source, gateway.SourcePaused)
		return err
	})
	deleted := b.whileWaiting(t, func(tx store.Tx) error {
		if !b.hold(t, tx, first) {
			return errors.New("it was not held")
		}
		return nil
	}, func(tx store.Tx) error {
		return tx.DeleteSource(t.Context(), b.account, source)
	}, func(store.Tx) error { return nil })
	if deleted != nil {
		t.Fatal(deleted)
	}
	found, err := b.HeldAtActive(t.Context(), 9)
	if diff := cmp.Diff([]store.SourceRef{{AccountID: b.account, SourceID: source}}, found); diff != "" || err != nil {
		t.Errorf("%v, %s", err, diff)
	}
	late := b.accepted(t, source, 1)[0]
	b.in(t, func(tx store.Tx) error {
		if b.hold(t, tx, late) {
			t.Error("an event is held at a deleted source")
		}
		return nil
	})
	for _, state := range []gateway.SourceState{gateway.SourcePaused, gateway.SourceActive} {
		b.in(t, func(tx store.Tx) error {
			if changed, err := tx.SetSourceState(t.Context(), b.account, source, state); changed || err != nil {
				t.Errorf("a deleted source became %s: %v", state, err)
			}
			return nil
		})
	}
}

func TestSourcesArePagedNewestFirst(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	var want []gateway.SourceID
	for range 4 {
		want = append(want, b.newSource(t).ID)
	}
	slices.Reverse(want)
	var got []gateway.SourceID
	page := store.Page[gateway.SourceID]{Limit: 2}
	for range 2 {
		part, err := b.Sources(t.Context(), b.account, page)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range part {
			got = append(got, s.ID)
		}
		page.Before = &got[len(got)-1]
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
