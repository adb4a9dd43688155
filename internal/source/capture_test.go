package source_test

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/pgtest"
	"github.com/rowlock/rowlock/internal/signature"
	"github.com/rowlock/rowlock/internal/source"
	"github.com/rowlock/rowlock/internal/store"
)

// waiting makes a source of a kind whose provider sends the secret.
func (b bundle) waiting(t *testing.T) gateway.Source {
	t.Helper()
	made, err := b.Create(t.Context(), b.account, actor, source.Input{Name: new("Notion"), Kind: new("notion")})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// take gives a source a secret as its provider does, and tells whether it was
// taken.
func (b bundle) take(t *testing.T, id gateway.SourceID, value string) (taken bool) {
	t.Helper()
	err := b.store.InTx(t.Context(), func(tx store.Tx) (err error) {
		if taken, err = tx.TakeCapture(t.Context(), b.account, id); err != nil || !taken {
			return err
		}
		_, err = tx.AddSourceSecret(t.Context(), b.account, id, gateway.Secret{ID: gateway.SecretID(b.clock.NewID()), Value: value, Captured: true})
		return err
	})
	if err != nil {
		t.Error(err)
	}
	return taken
}

// A source whose provider sends the secret is made without one and waits for
// it, for as long as it takes. One that was made with a secret waits for none.
func TestOnlyASourceWithoutASecretWaitsForOne(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	for _, kind := range signature.Kinds() {
		scheme, _ := signature.Lookup(kind)
		if !scheme.Info().Secret.Captured {
			continue
		}
		for name, given := range map[string]*string{"left out": nil, "empty": new("")} {
			made, err := b.Create(t.Context(), b.account, actor, source.Input{Name: new("n"), Kind: &kind, Secret: given})
			if err != nil || made.CaptureUntil == nil || time.Until(*made.CaptureUntil) < 365*24*time.Hour || len(b.values(t, made.ID)) != 0 {
				t.Errorf("%s, %s: until %v, %v", kind, name, made.CaptureUntil, err)
			}
		}
		made, err := b.Create(t.Context(), b.account, actor, source.Input{Name: new("n"), Kind: &kind, Secret: new("pasted")})
		if err != nil || made.CaptureUntil != nil || b.take(t, made.ID, "sent") {
			t.Errorf("%s: with a secret it waits until %v, %v", kind, made.CaptureUntil, err)
		}
	}
	if made := b.create(t); made.CaptureUntil != nil || b.take(t, made.ID, "sent") {
		t.Error("a source of another kind waits")
	}
}

func TestCapture(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	made := b.waiting(t)
	if !b.take(t, made.ID, "first") || b.take(t, made.ID, "of a stranger") {
		t.Fatal("not one secret was taken")
	}
	told := b.told.Load()
	waits, err := b.Capture(t.Context(), b.account, actor, made.ID)
	if err != nil || waits.CaptureUntil == nil || b.told.Load() != told+1 {
		t.Fatalf("waits until %v, %v", waits.CaptureUntil, err)
	}
	if left := waits.CaptureUntil.Sub(b.clock.Now()); left > source.CaptureWait || left < source.CaptureWait-time.Minute {
		t.Errorf("it waits for %s", left)
	}
	if !b.take(t, made.ID, "second") || b.take(t, made.ID, "third") {
		t.Error("not one more secret was taken")
	}
	if diff := cmp.Diff([]string{"second", "first"}, b.values(t, made.ID)); diff != "" {
		t.Errorf("the first one goes on: %s", diff)
	}
	b.wantAudit(t, "source.create: notion", "source.secret.await")
}

func TestCaptureEndsByItself(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	made := b.waiting(t)
	b.exec(t, `UPDATE sources SET capture_until = now() WHERE id = $1`, made.ID)
	if b.take(t, made.ID, "late") {
		t.Error("a secret was taken that came too late")
	}
	if _, err := b.Capture(t.Context(), b.account, actor, made.ID); err != nil || !b.take(t, made.ID, "in time") {
		t.Errorf("asked for again: %v", err)
	}
}

func TestCaptureIsRefused(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	github, deleted, foreign := b.create(t), b.waiting(t), b.waiting(t)
	if err := b.Delete(t.Context(), b.account, actor, deleted.ID); err != nil {
		t.Fatal(err)
	}
	var invalid *gateway.InvalidError
	if _, err := b.Capture(t.Context(), b.account, actor, github.ID); !errors.As(err, &invalid) || invalid.Field != "kind" || b.take(t, github.ID, "sent") {
		t.Errorf("a kind whose provider sends none: %v", err)
	}
	if _, err := b.Capture(t.Context(), b.account, actor, deleted.ID); !errors.Is(err, gateway.ErrNotFound) || b.take(t, deleted.ID, "sent") {
		t.Errorf("a deleted source: %v", err)
	}
	stranger := b.newAccount(t, "stranger")
	if _, err := b.Capture(t.Context(), stranger, actor, foreign.ID); !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("another account's source: %v", err)
	}
	if _, err := b.Secrets(t.Context(), stranger, actor, foreign.ID); !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("another account's secrets: %v", err)
	}
}

// Who pastes a secret ends the wait for one: the address is no secret, and
// whoever knows it could add a key of their own.
func TestAPastedSecretEndsTheWait(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	made := b.waiting(t)
	if _, err := b.Rotate(t.Context(), b.account, actor, made.ID, "pasted", nil); err != nil {
		t.Fatal(err)
	}
	if b.take(t, made.ID, "of a stranger") {
		t.Error("a stranger's secret was taken beside the pasted one")
	}
	if diff := cmp.Diff([]string{"pasted"}, b.values(t, made.ID)); diff != "" {
		t.Error(diff)
	}
	if now, err := b.store.Source(t.Context(), b.account, made.ID); err != nil || now.CaptureUntil != nil {
		t.Errorf("it waits until %v, %v", now.CaptureUntil, err)
	}
	// One that could not be pasted leaves it as it was.
	other := b.waiting(t)
	if _, err := b.Rotate(t.Context(), b.account, actor, other.ID, " ", nil); err == nil || !b.take(t, other.ID, "sent") {
		t.Errorf("after a refused secret: %v", err)
	}
}

// Of a secret that is pasted and one that is sent at the same time, the sent one
// comes first or is not taken.
func TestPastedAndSentAtOnce(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	for range 5 {
		made := b.waiting(t)
		pgtest.AtOnce(8, func(i int) {
			if i > 0 {
				b.take(t, made.ID, "sent")
			} else if _, err := b.Rotate(t.Context(), b.account, actor, made.ID, "pasted", nil); err != nil {
				t.Error(err)
			}
		})
		live := b.values(t, made.ID)
		slices.Sort(live)
		if !slices.Equal(live, []string{"pasted"}) && !slices.Equal(live, []string{"pasted", "sent"}) {
			t.Errorf("live are %v", live)
		}
		if b.take(t, made.ID, "of a stranger") {
			t.Error("it still waits")
		}
	}
}

// A change of its settings leaves the wait alone.
func TestUpdateLeavesTheWait(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	made := b.waiting(t)
	got, err := b.Update(t.Context(), b.account, actor, made.ID, source.Input{Settings: json.RawMessage(`{"rate_limit":{"per_second":5}}`)})
	if err != nil || got.CaptureUntil == nil || !b.take(t, made.ID, "sent") {
		t.Errorf("until %v, %v", got.CaptureUntil, err)
	}
}

// Secrets shows what the provider sent, and nothing that was pasted; looking is
// audited where there is something to see.
func TestSecrets(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	made := b.waiting(t)
	secrets := func() []gateway.Secret {
		t.Helper()
		got, err := b.Secrets(t.Context(), b.account, actor, made.ID)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := secrets(); len(got) != 0 {
		t.Errorf("%d secrets", len(got))
	}
	b.take(t, made.ID, "sent")
	if _, err := b.Rotate(t.Context(), b.account, actor, made.ID, "pasted", nil); err != nil {
		t.Fatal(err)
	}
	got := secrets()
	if len(got) != 2 || got[0].Captured || got[0].Value != "" || got[0].EndsAt != nil || !got[1].Captured || got[1].Value != "sent" || got[1].EndsAt == nil {
		t.Errorf("%+v", got)
	}
	b.exec(t, `UPDATE source_secrets SET ends_at = now() WHERE captured`)
	if got := secrets(); len(got) != 1 || got[0].Value != "" {
		t.Errorf("after its end: %+v", got)
	}
	b.wantAudit(t, "source.create: notion", "source.secret.rotate: "+got[0].ID.String()+", overlap 24h0m0s", "source.secret.reveal")
}
