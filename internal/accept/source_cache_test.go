package accept_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/accept"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/pgtest"
	"github.com/rowlock/rowlock/internal/store"
)

// receives tells whether a request signed with this secret is taken.
func (b bundle) receives(t *testing.T, source gateway.Source, value string) bool {
	t.Helper()
	id := gateway.EventID(b.clock.NewID()).String()
	_, err := b.Receive(t.Context(), signed(source, value, id, "{}"))
	return err == nil
}

// wantReceives fails unless requests signed with this secret are taken, or not.
func (b bundle) wantReceives(t *testing.T, source gateway.Source, value string, want bool, when string) {
	t.Helper()
	if got := b.receives(t, source, value); got != want {
		t.Errorf("%s: signed with %q it is taken: %t", when, value, got)
	}
}

// A source is believed for a moment, and read again when it was told that it
// changed.
func TestForgetSources(t *testing.T) {
	t.Parallel()
	b := newBundle(t, accept.Limits{})
	source := b.newSource(t, "github", "old")
	b.wantReceives(t, source, "old", true, "at first")
	added := b.addSecret(t, source, "new")
	b.wantReceives(t, source, "new", false, "remembered without its new secret")
	b.ForgetSources()
	b.wantReceives(t, source, "new", true, "read again")
	b.in(t, func(tx store.Tx) error {
		return tx.EndSourceSecrets(t.Context(), b.account, source.ID, 0, added)
	})
	b.ForgetSources()
	b.wantReceives(t, source, "old", false, "its old secret has ended")
	b.wantReceives(t, source, "new", true, "its old secret has ended")
	b.in(t, func(tx store.Tx) error { return tx.DeleteSource(t.Context(), b.account, source.ID) })
	b.ForgetSources()
	b.wantReceives(t, source, "new", false, "deleted")
}

// Who is not told of a change sees it in time all the same, also when the
// clock was set back.
func TestSourcesAreReadAgainInTime(t *testing.T) {
	t.Parallel()
	for name, age := range map[string]time.Duration{"old": accept.SourceTTL, "of the future": -accept.SourceTTL - time.Minute} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBundle(t, accept.Limits{})
			source := b.newSource(t, "github", proof)
			b.wantReceives(t, source, proof, true, "at first")
			b.exec(t, `UPDATE sources SET deleted_at = now() WHERE id = $1`, source.ID)
			b.wantReceives(t, source, proof, true, "remembered")
			b.Age(age)
			b.wantReceives(t, source, proof, false, "remembered for too long")
		})
	}
}

// A remembered source's secret stops verifying when its end comes, without
// being read again.
func TestEndsOfRememberedSecrets(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	at := func(d time.Duration) *time.Time {
		end := now.Add(d)
		return &end
	}
	secrets := []gateway.Secret{
		{ID: gateway.SecretID{1}},
		{ID: gateway.SecretID{2}, EndsAt: at(time.Hour)},
		{ID: gateway.SecretID{3}, EndsAt: at(time.Nanosecond)},
		{ID: gateway.SecretID{4}, EndsAt: at(0)},
		{ID: gateway.SecretID{5}, EndsAt: at(-time.Hour)},
	}
	for after, want := range map[time.Duration][]gateway.SecretID{
		-2 * time.Hour:  {{1}, {2}, {3}, {4}, {5}},
		0:               {{1}, {2}, {3}},
		time.Nanosecond: {{1}, {2}},
		time.Hour:       {{1}},
	} {
		if got := accept.LiveAt(secrets, now.Add(after)); !slices.Equal(got, want) {
			t.Errorf("%s later live are %v, want %v", after, got, want)
		}
	}
}

// The same, seen from outside: a source that was read in time refuses a secret
// whose end has come since.
func TestASecretEndsWhileItsSourceIsRemembered(t *testing.T) {
	t.Parallel()
	b := newBundle(t, accept.Limits{})
	source := b.newSource(t, "github", "old")
	kept := b.addSecret(t, source, "new")
	b.in(t, func(tx store.Tx) error {
		return tx.EndSourceSecrets(t.Context(), b.account, source.ID, time.Second, kept)
	})
	b.wantReceives(t, source, "new", true, "read in time")
	b.exec(t, `UPDATE source_secrets SET sealed = ''`) // whoever reads again fails
	for b.receives(t, source, "old") {
	}
	b.wantReceives(t, source, "new", true, "remembered")
}

// An unknown token is looked up each time: a new source is known at once.
func TestAFailedLookUpIsNotRemembered(t *testing.T) {
	t.Parallel()
	b := newBundle(t, accept.Limits{})
	source := b.newSource(t, "github", proof)
	b.exec(t, `UPDATE sources SET deleted_at = now() WHERE id = $1`, source.ID)
	b.wantReceives(t, source, proof, false, "not there")
	b.exec(t, `UPDATE sources SET deleted_at = NULL, settings = 'no JSON' WHERE id = $1`, source.ID)
	b.wantReceives(t, source, proof, false, "not readable")
	b.exec(t, `UPDATE sources SET settings = '{}' WHERE id = $1`, source.ID)
	b.wantReceives(t, source, proof, true, "mended")
	account := b
	account.account = gateway.AccountID(b.clock.NewID())
	if _, err := account.publish(t.Context(), keyed("k", "{}")); !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("an account that is not there: %v", err)
	}
	b.exec(t, `INSERT INTO accounts (id, name, slug) VALUES ($1, 'new', 'new')`, account.account)
	account.newSource(t, gateway.SourceKindAPI, "")
	if _, err := account.publish(t.Context(), keyed("k", "{}")); err != nil {
		t.Errorf("an account that was made since: %v", err)
	}
	if sources, builtIn := b.Remembered(); sources != 1 || builtIn != 1 {
		t.Errorf("remembered are %d sources and %d built-in ones, want one of each", sources, builtIn)
	}
}

// What is read while a change is told is used once and not kept: it may be
// what was before the change.
func TestALookUpThatIsUnderWayIsNotKept(t *testing.T) {
	t.Parallel()
	b := newBundle(t, accept.Limits{})
	source := b.newSource(t, "github", proof)
	tx, err := b.pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), `LOCK TABLE sources IN ACCESS EXCLUSIVE MODE`); err != nil {
		t.Fatal(err)
	}
	taken := make(chan bool)
	go func() { taken <- b.receives(t, source, proof) }()
	b.waiting(t, 1)
	b.ForgetSources()
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !<-taken {
		t.Error("the request is refused")
	}
	if sources, _ := b.Remembered(); sources != 0 {
		t.Error("it is remembered")
	}
	b.wantReceives(t, source, proof, true, "read again")
	if sources, _ := b.Remembered(); sources != 1 {
		t.Error("it is not remembered")
	}
}

// The memory of sources is bounded.
func TestRememberedSourcesAreBounded(t *testing.T) {
	t.Parallel()
	b := newBundle(t, accept.Limits{})
	source := b.newSource(t, "github", proof)
	b.Remember(accept.MaxCachedSources)
	b.wantReceives(t, source, proof, true, "full of others")
	if _, err := b.publish(t.Context(), keyed("k", "{}")); err != nil {
		t.Error(err)
	}
	if sources, builtIn := b.Remembered(); sources != 1 || builtIn != 1 {
		t.Errorf("%d sources and %d built-in ones are remembered", sources, builtIn)
	}
}

// Sources change while requests come in: each request is judged by a state
// that the source had, and after the last change by the last.
func TestForgettingUnderLoad(t *testing.T) {
	t.Parallel()
	b := newBundle(t, accept.Limits{})
	source := b.newSource(t, "github", "keep")
	kept, err := b.store.SourceSecrets(t.Context(), b.account, source.ID)
	if err != nil {
		t.Fatal(err)
	}
	const rounds = 20
	pgtest.AtOnce(5, func(i int) {
		for range rounds {
			if i == 0 {
				b.addSecret(t, source, "passing")
				b.in(t, func(tx store.Tx) error {
					return tx.EndSourceSecrets(t.Context(), b.account, source.ID, 0, kept[0].ID)
				})
				b.ForgetSources()
				continue
			}
			b.wantReceives(t, source, "keep", true, "under load")
		}
	})
	b.wantReceives(t, source, "passing", false, "after the last change")
}
