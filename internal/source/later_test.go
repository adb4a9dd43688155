package source_test

import (
	"errors"
	"testing"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/source"
)

// A source can be made before its provider shows the secret, where providers of
// the kind show it only then. It has none until one is pasted.
func TestCreateBeforeTheSecretIsKnown(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	made, err := b.Create(t.Context(), b.account, actor, source.Input{Name: new("Shop"), Kind: new("stripe"), Later: true})
	if err != nil || len(b.values(t, made.ID)) != 0 {
		t.Fatalf("%v, secrets %q", err, b.values(t, made.ID))
	}
	if _, err := b.Rotate(t.Context(), b.account, actor, made.ID, "whsec_late", nil); err != nil {
		t.Fatal(err)
	}
	if got := b.values(t, made.ID); len(got) != 1 || got[0] != "whsec_late" {
		t.Errorf("secrets %q", got)
	}
	var invalid *gateway.InvalidError
	if _, err := b.Create(t.Context(), b.account, actor, source.Input{Name: new("Code"), Kind: new("github"), Later: true}); !errors.As(err, &invalid) || invalid.Field != "secret" {
		t.Errorf("a kind whose secret is known at once: %v", err)
	}
	if _, err := b.Create(t.Context(), b.account, actor, source.Input{Name: new("Shop"), Kind: new("stripe")}); !errors.As(err, &invalid) || invalid.Field != "secret" {
		t.Errorf("nobody said that it comes later: %v", err)
	}
}
