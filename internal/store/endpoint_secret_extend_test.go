package store_test

import (
	"errors"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// overlapping is an endpoint with one secret that is about to end, and the one
// that replaced it.
func overlapping(t *testing.T, b bundle, left time.Duration) (e gateway.Endpoint, old, newest gateway.Secret) {
	t.Helper()
	e = b.newEndpoint(t)
	old, newest = b.addSecret(t, e.ID, "old"), b.addSecret(t, e.ID, "new")
	b.in(t, func(tx store.Tx) error {
		return tx.EndEndpointSecrets(t.Context(), b.account, e.ID, left, newest.ID)
	})
	return e, old, newest
}

// secondsLeft is how long a secret still signs.
func (b bundle) secondsLeft(t *testing.T, id gateway.SecretID) time.Duration {
	t.Helper()
	return time.Duration(b.count(t, `SELECT round(extract(epoch FROM ends_at - now()))::int FROM endpoint_secrets WHERE id = $1`, id)) * time.Second
}

func TestExtendEndpointSecret(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e, old, newest := overlapping(t, b, time.Hour)
	extend := func(id gateway.SecretID, overlap time.Duration) (extended gateway.Secret, err error) {
		err = b.InTx(t.Context(), func(tx store.Tx) (err error) {
			extended, err = tx.ExtendEndpointSecret(t.Context(), b.account, e.ID, id, overlap)
			return err
		})
		return extended, err
	}
	for _, c := range []struct{ overlap, want time.Duration }{
		{24 * time.Hour, 24 * time.Hour},
		{24 * time.Hour, 24 * time.Hour}, // twice: from now, not on top
		{time.Minute, 24 * time.Hour},    // never sooner
	} {
		got, err := extend(old.ID, c.overlap)
		if err != nil || got.ID != old.ID || got.EndsAt == nil || got.Value != "" {
			t.Fatalf("extend by %v: %+v, %v", c.overlap, got, err)
		}
		if left := b.secondsLeft(t, old.ID); (left - c.want).Abs() > 20*time.Second {
			t.Errorf("after %v it signs for %v, want %v", c.overlap, left, c.want)
		}
	}
	if _, err := extend(newest.ID, time.Hour); !errors.Is(err, gateway.ErrSecretEndless) {
		t.Errorf("the newest: %v, want ErrSecretEndless", err)
	}
	if _, err := extend(gateway.SecretID(b.clock.NewID()), time.Hour); !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("none: %v, want ErrNotFound", err)
	}
	b.exec(t, 1, `UPDATE endpoint_secrets SET ends_at = clock_timestamp() WHERE id = $1`, old.ID)
	if _, err := extend(old.ID, time.Hour); !errors.Is(err, gateway.ErrSecretEnded) {
		t.Errorf("one that has ended: %v, want ErrSecretEnded", err)
	}
}

// Of extensions at once the longest counts, in whatever order they come.
func TestExtendTogether(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e, old, _ := overlapping(t, b, time.Hour)
	wantErrors(t, b.atOnce(t.Context(), poolSize, func(tx store.Tx, i int) error {
		_, err := tx.ExtendEndpointSecret(t.Context(), b.account, e.ID, old.ID, time.Duration(i+1)*24*time.Hour)
		return err
	}), poolSize, nil)
	if left, want := b.secondsLeft(t, old.ID), poolSize*24*time.Hour; (left - want).Abs() > 20*time.Second {
		t.Errorf("it signs for %v, want %v", left, want)
	}
}

// Who waits to extend a secret while another ends it finds that it has ended,
// and who waits to end one that is extended ends it.
func TestExtendAndEndAtOnce(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e, old, _ := overlapping(t, b, time.Hour)
	extend := func(tx store.Tx) error {
		_, err := tx.ExtendEndpointSecret(t.Context(), b.account, e.ID, old.ID, 24*time.Hour)
		return err
	}
	end := func(tx store.Tx) error {
		_, err := tx.EndEndpointSecret(t.Context(), b.account, e.ID, old.ID)
		return err
	}
	nothing := func(store.Tx) error { return nil }
	if err := b.whileWaiting(t, end, extend, nothing); !errors.Is(err, gateway.ErrSecretEnded) {
		t.Errorf("extending what was ended meanwhile: %v, want ErrSecretEnded", err)
	}
	e, old, _ = overlapping(t, b, time.Hour)
	if err := b.whileWaiting(t, extend, end, nothing); err != nil {
		t.Errorf("ending what was extended meanwhile: %v", err)
	}
	if live := b.liveSecrets(t, e.ID); len(live) != 1 || live[0] != "new" {
		t.Errorf("live are %v, want the new one alone", live)
	}
}

// A secret that ends while the last free place is taken is not live again
// beside it: there are never more than may be.
func TestExtendDoesNotMakeRoom(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e, old, _ := overlapping(t, b, time.Hour)
	for range gateway.MaxLiveSecrets - 2 {
		b.addSecret(t, e.ID, "more")
	}
	b.exec(t, 1, `UPDATE endpoint_secrets SET ends_at = clock_timestamp() WHERE id = $1`, old.ID)
	add := func(tx store.Tx) error { return b.addEndpointSecret(t.Context(), tx, e.ID, b.secret("last")) }
	extend := func(tx store.Tx) error {
		_, err := tx.ExtendEndpointSecret(t.Context(), b.account, e.ID, old.ID, time.Hour)
		return err
	}
	if err := b.whileWaiting(t, add, extend, func(store.Tx) error { return nil }); !errors.Is(err, gateway.ErrSecretEnded) {
		t.Errorf("extended: %v, want ErrSecretEnded", err)
	}
	if live := b.liveSecrets(t, e.ID); len(live) != gateway.MaxLiveSecrets {
		t.Errorf("%d are live", len(live))
	}
}
