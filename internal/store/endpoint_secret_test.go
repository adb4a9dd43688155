package store_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/secret"
	"github.com/rowlock/rowlock/internal/store"
)

// addSecret adds a secret to an endpoint.
func (b bundle) addSecret(t *testing.T, endpoint gateway.EndpointID, value string) gateway.Secret {
	t.Helper()
	s := b.secret(value)
	b.in(t, func(tx store.Tx) error { return b.addEndpointSecret(t.Context(), tx, endpoint, s) })
	return s
}

func (b bundle) liveSecrets(t *testing.T, endpoint gateway.EndpointID) []string {
	t.Helper()
	live, err := b.EndpointSecrets(t.Context(), b.account, endpoint)
	if err != nil {
		t.Fatal(err)
	}
	return values(live)
}

func TestEndpointSecretsAreSealed(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e := b.newEndpoint(t)
	b.addSecret(t, e.ID, "first")
	b.addSecret(t, e.ID, "second")
	if diff := cmp.Diff([]string{"second", "first"}, b.liveSecrets(t, e.ID)); diff != "" {
		t.Error(diff)
	}
	times, err := b.EndpointSecretTimes(t.Context(), b.account, e.ID)
	if err != nil || len(times) != 2 || times[0].Value+times[1].Value != "" || times[0].CreatedAt.IsZero() {
		t.Errorf("without their values: %v, %v", times, err)
	}
	b.in(t, func(tx store.Tx) error {
		live, err := tx.EndpointSecrets(t.Context(), b.account, e.ID)
		if len(live) != 2 {
			t.Errorf("within the transaction: %d secrets", len(live))
		}
		return err
	})
	if n := b.count(t, `SELECT count(*) FROM endpoint_secrets WHERE position('first'::bytea IN sealed) > 0`); n != 0 {
		t.Error("a secret lies open in the database")
	}
}

// A sealed secret that somebody copies into another row does not open there.
func TestMovedSecretDoesNotOpen(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e, other, source := b.newEndpoint(t), b.newEndpoint(t), b.newSource(t)
	s := b.addSecret(t, e.ID, "first")
	b.addSecret(t, other.ID, "other")
	b.in(t, func(tx store.Tx) error {
		return b.addSourceSecret(t.Context(), tx, source.ID, b.secret("third"))
	})
	stolen := `(SELECT sealed FROM endpoint_secrets WHERE id = $1)`
	b.exec(t, 1, `UPDATE endpoint_secrets SET sealed = `+stolen+` WHERE id <> $1`, s.ID)
	if _, err := b.EndpointSecrets(t.Context(), b.account, other.ID); !errors.Is(err, secret.ErrUnsealable) {
		t.Errorf("in another row: %v, want ErrUnsealable", err)
	}
	b.exec(t, 1, `UPDATE source_secrets SET id = $1, sealed = `+stolen, s.ID)
	if _, err := b.SourceSecrets(t.Context(), b.account, source.ID); !errors.Is(err, secret.ErrUnsealable) {
		t.Errorf("in another table: %v, want ErrUnsealable", err)
	}
	b.exec(t, 1, `DELETE FROM endpoint_secrets WHERE id <> $1`, s.ID)
	b.exec(t, 1, `UPDATE endpoint_secrets SET endpoint_id = $2 WHERE id = $1`, s.ID, other.ID)
	if _, err := b.EndpointSecrets(t.Context(), b.account, other.ID); !errors.Is(err, secret.ErrUnsealable) {
		t.Errorf("under another endpoint: %v, want ErrUnsealable", err)
	}
}

func TestStoreWithoutSealer(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e := b.newEndpoint(t)
	b.addSecret(t, e.ID, "first")
	blind, err := store.New(b.pool, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := blind.EndpointSecrets(t.Context(), b.account, e.ID); err == nil {
		t.Error("secrets were read without a sealer")
	}
	err = blind.InTx(t.Context(), func(tx store.Tx) error {
		return b.addEndpointSecret(t.Context(), tx, e.ID, b.secret("second"))
	})
	if err == nil {
		t.Error("a secret was stored without a sealer")
	}
}

func TestLiveSecretsAreLimitedUnderRace(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e, source := b.newEndpoint(t), b.newSource(t)
	add := map[string]func(tx store.Tx, _ int) error{
		"endpoint": func(tx store.Tx, _ int) error {
			return b.addEndpointSecret(t.Context(), tx, e.ID, b.secret("s"))
		},
		"source": func(tx store.Tx, _ int) error {
			return b.addSourceSecret(t.Context(), tx, source.ID, b.secret("s"))
		},
	}
	for name, do := range add {
		t.Log(name)
		wantErrors(t, b.atOnce(t.Context(), gateway.MaxLiveSecrets+4, do), gateway.MaxLiveSecrets, gateway.ErrTooManySecrets)
	}
	// One that has ended makes room.
	for _, table := range []string{"endpoint_secrets", "source_secrets"} {
		b.exec(t, 1, `UPDATE `+table+` SET ends_at = now() WHERE id = (SELECT id FROM `+table+` LIMIT 1)`)
	}
	for _, do := range add {
		wantErrors(t, b.atOnce(t.Context(), 1, do), 1, nil)
	}
}

// Who adds the last secret that there is room for makes the next one wait and
// find no room.
func TestSecretsAreAddedOneAfterTheOther(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e, source := b.newEndpoint(t), b.newSource(t)
	for name, add := range map[string]func(tx store.Tx) error{
		"endpoint": func(tx store.Tx) error { return b.addEndpointSecret(t.Context(), tx, e.ID, b.secret("s")) },
		"source":   func(tx store.Tx) error { return b.addSourceSecret(t.Context(), tx, source.ID, b.secret("s")) },
	} {
		for range gateway.MaxLiveSecrets - 1 {
			b.in(t, add)
		}
		nothing := func(store.Tx) error { return nil }
		if err := b.whileWaiting(t, add, add, nothing); !errors.Is(err, gateway.ErrTooManySecrets) {
			t.Errorf("%s: the second one ended with %v, want ErrTooManySecrets", name, err)
		}
	}
}

func TestEndEndpointSecretsKeepsTheSoonerEnd(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e := b.newEndpoint(t)
	soon, late, open, kept := b.addSecret(t, e.ID, "soon"), b.addSecret(t, e.ID, "late"), b.addSecret(t, e.ID, "open"), b.addSecret(t, e.ID, "kept")
	b.exec(t, 1, `UPDATE endpoint_secrets SET ends_at = now() + interval '1 minute' WHERE id = $1`, soon.ID)
	b.exec(t, 1, `UPDATE endpoint_secrets SET ends_at = now() + interval '3 days' WHERE id = $1`, late.ID)
	end := func(overlap time.Duration) {
		b.in(t, func(tx store.Tx) error {
			return tx.EndEndpointSecrets(t.Context(), b.account, e.ID, overlap, kept.ID)
		})
	}
	end(time.Hour)
	for id, want := range map[gateway.SecretID]time.Duration{soon.ID: time.Minute, late.ID: time.Hour, open.ID: time.Hour} {
		seconds := b.count(t, `SELECT round(extract(epoch FROM ends_at - now()))::int FROM endpoint_secrets WHERE id = $1`, id)
		if got := time.Duration(seconds) * time.Second; (got - want).Abs() > 20*time.Second {
			t.Errorf("a secret ends in %v, want %v", got, want)
		}
	}
	end(0)
	if diff := cmp.Diff([]string{"kept"}, b.liveSecrets(t, e.ID)); diff != "" {
		t.Error(diff)
	}
}

func TestLastSecretStays(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e := b.newEndpoint(t)
	all := []gateway.Secret{b.addSecret(t, e.ID, "a"), b.addSecret(t, e.ID, "b"), b.addSecret(t, e.ID, "c")}
	errs := b.atOnce(t.Context(), len(all), func(tx store.Tx, i int) error {
		_, err := tx.EndEndpointSecret(t.Context(), b.account, e.ID, all[i].ID)
		return err
	})
	wantErrors(t, errs, len(all)-1, gateway.ErrLastSecret)
	if live := b.liveSecrets(t, e.ID); len(live) != 1 {
		t.Errorf("live secrets: %v", live)
	}
}

// The newest cannot be ended while all others are about to end: the endpoint
// would be left without any.
func TestNewestSecretStaysDuringOverlap(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e := b.newEndpoint(t)
	old, newest := b.addSecret(t, e.ID, "old"), b.addSecret(t, e.ID, "new")
	b.in(t, func(tx store.Tx) error {
		return tx.EndEndpointSecrets(t.Context(), b.account, e.ID, time.Hour, newest.ID)
	})
	end := func(id gateway.SecretID) (changed bool, err error) {
		err = b.InTx(t.Context(), func(tx store.Tx) (err error) {
			changed, err = tx.EndEndpointSecret(t.Context(), b.account, e.ID, id)
			return err
		})
		return changed, err
	}
	if _, err := end(newest.ID); !errors.Is(err, gateway.ErrLastSecret) {
		t.Errorf("ending the newest: %v, want ErrLastSecret", err)
	}
	if changed, err := end(old.ID); !changed || err != nil {
		t.Errorf("ending the old one: %v, %v", changed, err)
	}
	if changed, err := end(old.ID); changed || err != nil {
		t.Errorf("ending it again: %v, %v; want no change and no error", changed, err)
	}
	if _, err := end(gateway.SecretID(b.clock.NewID())); !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("ending one that is not there: %v, want ErrNotFound", err)
	}
}

// A transaction that began before another ended the secret, and waited for it,
// sees that it has ended: its own beginning is not the time that counts.
func TestEndEndpointSecretAfterWaiting(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e := b.newEndpoint(t)
	old, kept := b.secret("old"), b.secret("kept")
	b.in(t, func(tx store.Tx) error {
		return errors.Join(b.addEndpointSecret(t.Context(), tx, e.ID, old), b.addEndpointSecret(t.Context(), tx, e.ID, kept))
	})
	b.in(t, func(late store.Tx) error {
		b.in(t, func(first store.Tx) error {
			changed, err := first.EndEndpointSecret(t.Context(), b.account, e.ID, old.ID)
			if !changed {
				t.Error("the first changed nothing")
			}
			return err
		})
		changed, err := late.EndEndpointSecret(t.Context(), b.account, e.ID, old.ID)
		if changed {
			t.Error("it was ended twice")
		}
		return err
	})
}
