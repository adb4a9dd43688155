package store_test

import (
	"maps"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// A source has a secret while one is live, and shows it to its account alone.
func TestSourcesWithSecret(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	with, without, ended, later := b.newSource(t), b.newSource(t), b.newSource(t), b.newSource(t)
	b.in(t, func(tx store.Tx) error {
		for _, source := range []gateway.Source{with, ended, later} {
			if _, err := tx.AddSourceSecret(t.Context(), b.account, source.ID, b.secret("s")); err != nil {
				return err
			}
		}
		if err := tx.EndSourceSecrets(t.Context(), b.account, ended.ID, 0, gateway.SecretID{}); err != nil {
			return err
		}
		return tx.EndSourceSecrets(t.Context(), b.account, later.ID, time.Hour, gateway.SecretID{})
	})
	all := []gateway.SourceID{with.ID, without.ID, ended.ID, later.ID}
	got, err := b.SourcesWithSecret(t.Context(), b.account, all)
	if want := map[gateway.SourceID]bool{with.ID: true, later.ID: true}; err != nil || !maps.Equal(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	if got, err := b.SourcesWithSecret(t.Context(), gateway.AccountID(b.clock.NewID()), all); err != nil || len(got) != 0 {
		t.Errorf("another account sees %v, %v", got, err)
	}
	if got, err := b.SourcesWithSecret(t.Context(), b.account, nil); err != nil || len(got) != 0 {
		t.Errorf("of no source: %v, %v", got, err)
	}
}
