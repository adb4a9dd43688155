package endpoint_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/gateway"
)

func TestRotate(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		overlap *time.Duration
		ends    time.Duration // of the old secret, from now; zero is at once
	}{
		"default":  {nil, gateway.DefaultOverlap},
		"an hour":  {new(time.Hour), time.Hour},
		"longest":  {new(gateway.MaxOverlap), gateway.MaxOverlap},
		"at once":  {new(time.Duration(0)), 0},
		"a second": {new(time.Second), time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBundle(t)
			e, old := b.create(t)
			added, err := b.Rotate(t.Context(), b.account, actor, e.ID, tt.overlap, nil)
			if err != nil || added.Value == old.Value || added.CreatedAt.IsZero() {
				t.Fatalf("Rotate() = %v, created %v", err, added.CreatedAt)
			}
			var left float64
			err = b.pool.QueryRow(t.Context(), `
				SELECT extract(epoch FROM o.ends_at - n.created_at)
				FROM endpoint_secrets o, endpoint_secrets n
				WHERE o.id = $1 AND n.id = $2 AND n.ends_at IS NULL`, old.ID, added.ID).Scan(&left)
			if err != nil || left != tt.ends.Seconds() {
				t.Errorf("the old secret ends after %v s, %v; want %v", left, err, tt.ends)
			}
			if live := b.values(t, e.ID); live[0] != added.Value || tt.ends == 0 && len(live) != 1 {
				t.Errorf("%d secrets are live, or the new one is not the first", len(live))
			}
		})
	}
}

func TestRotateToGivenSecret(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e, _ := b.create(t)
	given := "whsec_" + strings.Repeat("QUJD", 8)
	if _, err := b.Rotate(t.Context(), b.account, actor, e.ID, new(time.Duration(0)), &given); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{given}, b.values(t, e.ID)); diff != "" {
		t.Error(diff)
	}
}

func TestRotateRefuses(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e, old := b.create(t)
	for name, tt := range map[string]struct {
		overlap *time.Duration
		secret  *string
		field   string
	}{
		"negative overlap": {new(-time.Second), nil, "overlap"},
		"long overlap":     {new(gateway.MaxOverlap + 1), nil, "overlap"},
		"no secret":        {nil, new("hunter2"), "secret"},
		"short secret":     {nil, new("whsec_QUJD"), "secret"},
		"empty secret":     {nil, new(""), "secret"},
	} {
		_, err := b.Rotate(t.Context(), b.account, actor, e.ID, tt.overlap, tt.secret)
		var invalid *gateway.InvalidError
		if !errors.As(err, &invalid) || invalid.Field != tt.field {
			t.Errorf("%s: %v, want field %s", name, err, tt.field)
		}
		if tt.secret != nil && *tt.secret != "" && strings.Contains(err.Error(), strings.TrimPrefix(*tt.secret, "whsec_")) {
			t.Errorf("%s: the error repeats the secret", name)
		}
	}
	if diff := cmp.Diff([]string{old.Value}, b.values(t, e.ID)); diff != "" {
		t.Error(diff)
	}
}

// However many rotate at once, one secret is left that has no end, and the
// others end when its overlap is over.
func TestRotationsAtOnce(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e, _ := b.create(t)
	const rotations = 6
	done := atOnce(t, rotations, nil, func(ctx context.Context) error {
		_, err := b.Rotate(ctx, b.account, actor, e.ID, new(time.Hour), nil)
		return err
	})
	live, err := b.store.EndpointSecrets(t.Context(), b.account, e.ID)
	if err != nil || done != rotations || len(live) != rotations+1 {
		t.Fatalf("%d rotations, %d live secrets, %v", done, len(live), err)
	}
	endless := slices.DeleteFunc(live, func(s gateway.Secret) bool { return s.EndsAt != nil })
	if len(endless) != 1 {
		t.Errorf("%d secrets have no end, want 1", len(endless))
	}
}

func TestRotateTooOften(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e, _ := b.create(t)
	rotate := func(ctx context.Context) error {
		_, err := b.Rotate(ctx, b.account, actor, e.ID, nil, nil)
		return err
	}
	const room = gateway.MaxLiveSecrets - 1
	if done := atOnce(t, room+3, gateway.ErrTooManySecrets, rotate); done != room {
		t.Errorf("%d rotations, want %d", done, room)
	}
	// Without overlap there is always room.
	if _, err := b.Rotate(t.Context(), b.account, actor, e.ID, new(time.Duration(0)), nil); err != nil {
		t.Error(err)
	}
	if live := b.values(t, e.ID); len(live) != 1 {
		t.Errorf("%d live secrets, want 1", len(live))
	}
}

func TestEndSecret(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e, old := b.create(t)
	if err := b.EndSecret(t.Context(), b.account, actor, e.ID, old.ID); !errors.Is(err, gateway.ErrLastSecret) {
		t.Errorf("ending the only one: %v, want ErrLastSecret", err)
	}
	added, err := b.Rotate(t.Context(), b.account, actor, e.ID, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	atOnce(t, 3, nil, func(ctx context.Context) error { return b.EndSecret(ctx, b.account, actor, e.ID, old.ID) })
	if diff := cmp.Diff([]string{added.Value}, b.values(t, e.ID)); diff != "" {
		t.Error(diff)
	}
	b.wantAudit(t, "endpoint.create", "endpoint.secret.rotate: "+added.ID.String()+", overlap 24h0m0s", "endpoint.secret.end: "+old.ID.String())
}

func TestSecretsAreRevealedWithATrace(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e, signing := b.create(t)
	live, err := b.Secrets(t.Context(), b.account, actor, e.ID)
	if err != nil || len(live) != 1 || live[0].Value != signing.Value {
		t.Errorf("%d secrets, %v", len(live), err)
	}
	b.wantAudit(t, "endpoint.create", "endpoint.secret.reveal")
}

func TestExtendSecret(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e, old := b.create(t)
	if _, err := b.ExtendSecret(t.Context(), b.account, actor, e.ID, old.ID, time.Hour); !errors.Is(err, gateway.ErrSecretEndless) {
		t.Errorf("extending the only one: %v, want ErrSecretEndless", err)
	}
	added, err := b.Rotate(t.Context(), b.account, actor, e.ID, new(time.Hour), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, overlap := range []time.Duration{-1, 0, gateway.MaxOverlap + 1} {
		var invalid *gateway.InvalidError
		if _, err := b.ExtendSecret(t.Context(), b.account, actor, e.ID, old.ID, overlap); !errors.As(err, &invalid) || invalid.Field != "overlap" {
			t.Errorf("extending by %v: %v, want an error about overlap", overlap, err)
		}
	}
	extended, err := b.ExtendSecret(t.Context(), b.account, actor, e.ID, old.ID, gateway.MaxOverlap)
	if err != nil || extended.ID != old.ID || extended.EndsAt == nil || extended.Value != "" {
		t.Errorf("extended: %+v, %v", extended, err)
	}
	b.wantAudit(t, "endpoint.create", "endpoint.secret.rotate: "+added.ID.String()+", overlap 1h0m0s",
		"endpoint.secret.extend: "+old.ID.String()+", overlap 720h0m0s")
}
