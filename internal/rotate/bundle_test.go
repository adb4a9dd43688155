package rotate_test

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/rowlock/rowlock/internal/clock"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/pgtest"
	"github.com/rowlock/rowlock/internal/rotate"
	"github.com/rowlock/rowlock/internal/secret"
	"github.com/rowlock/rowlock/internal/store"
)

// secretsKept is how many secrets a test's endpoints have: more than a batch.
const secretsKept = 230

// bundle is a database whose secrets are under a master key that lies in a file.
type bundle struct {
	pool    *pgxpool.Pool
	clock   *clock.Clock
	dir     string
	account gateway.AccountID
	// endpoints have the secrets whose values are their own ids.
	endpoints []gateway.EndpointID
}

func newBundle(t *testing.T) *bundle {
	t.Helper()
	pool, err := store.Connect(t.Context(), pgtest.URL(t), store.DefaultPoolSize)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	b := &bundle{pool: pool, clock: clock.New(), dir: filepath.Join(t.TempDir(), "data")}
	master, err := secret.LoadOrCreateMasterKey(b.dir)
	if err != nil {
		t.Fatal(err)
	}
	wrapped, err := secret.NewKeyset(master)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.Keyset(t.Context(), pool, wrapped); err != nil {
		t.Fatal(err)
	}
	b.account = gateway.AccountID(b.clock.NewID())
	b.in(t, b.node(t), func(tx store.Tx) error {
		return tx.CreateAccount(t.Context(), gateway.Account{ID: b.account, Name: "Acme", Slug: "acme"})
	})
	return b
}

// fill gives the account endpoints with as many secrets as fit each.
func (b *bundle) fill(t *testing.T, secrets int) {
	t.Helper()
	s := b.node(t)
	for range secrets / gateway.MaxLiveSecrets {
		id := gateway.EndpointID(b.clock.NewID())
		b.endpoints = append(b.endpoints, id)
		b.in(t, s, func(tx store.Tx) error {
			_, err := tx.CreateEndpoint(t.Context(), b.account, gateway.Endpoint{ID: id, URL: "https://example.com/", MaxInFlight: 1}, 0)
			for range gateway.MaxLiveSecrets {
				if err == nil {
					err = b.addSecret(t.Context(), tx, id)
				}
			}
			return err
		})
	}
}

// addSecret stores a secret whose value is its id.
func (b *bundle) addSecret(ctx context.Context, tx store.Tx, endpoint gateway.EndpointID) error {
	id := gateway.SecretID(b.clock.NewID())
	_, err := tx.AddEndpointSecret(ctx, b.account, endpoint, gateway.Secret{ID: id, Value: id.String()})
	return err
}

func (b *bundle) in(t *testing.T, s *store.Store, do func(store.Tx) error) {
	t.Helper()
	if err := s.InTx(t.Context(), do); err != nil {
		t.Fatal(err)
	}
}

// masters are the keys as the files have them.
func (b *bundle) masters() (secret.MasterKey, []secret.MasterKey, error) {
	return secret.LoadMasterKeys(b.dir)
}

// node is a process that has just started.
func (b *bundle) node(t *testing.T) *store.Store {
	t.Helper()
	s, _ := b.nodeWith(t, b.masters)
	return s
}

func (b *bundle) nodeWith(t *testing.T, masters secret.MasterKeys) (*store.Store, *secret.Sealer) {
	t.Helper()
	state, err := store.StoredKeyset(t.Context(), b.pool)
	if err != nil {
		t.Fatal(err)
	}
	sealer, err := secret.OpenWith(state.Wrapped, masters)
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.New(b.pool, sealer, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return s, sealer
}

// options rotate the master key that lies in the file.
func (b *bundle) options(t *testing.T) rotate.Options {
	t.Helper()
	return rotate.Options{
		Store: b.node(t), Masters: b.masters,
		Renew:  func() error { _, err := secret.ReplaceMasterKey(b.dir); return err },
		Settle: func() error { _, err := secret.DropPreviousMasterKey(b.dir); return err },
	}
}

// readable checks that each secret opens.
func (b *bundle) readable(ctx context.Context, s *store.Store) error {
	for _, endpoint := range b.endpoints {
		live, err := s.EndpointSecrets(ctx, b.account, endpoint)
		if err != nil {
			return err
		}
		for _, one := range live {
			if one.Value != one.ID.String() {
				return fmt.Errorf("%s opens as %q", one.ID, one.Value)
			}
		}
		if len(live) < gateway.MaxLiveSecrets {
			return fmt.Errorf("%s has %d secrets", endpoint, len(live))
		}
	}
	return nil
}

// older counts what is not sealed with a key.
func (b *bundle) older(t *testing.T, key secret.KeyID) int {
	t.Helper()
	return pgtest.Count(t, b.pool, `SELECT count(*) FROM endpoint_secrets WHERE substr(sealed, 1, 5) <> $1`, key.Prefix())
}

// keepsBeating lets a node say that it is alive until the test is over, and
// follow the keyset as soon as it may.
func keepsBeating(t *testing.T, s *store.Store, name string, follow bool) {
	t.Helper()
	if _, err := s.Beat(t.Context(), store.Node{Name: name}); err != nil {
		t.Fatal(err)
	}
	pgtest.Background(t, func(ctx context.Context) {
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for ctx.Err() == nil {
			if follow {
				if err := s.FollowKeyset(ctx); err != nil && ctx.Err() == nil {
					t.Errorf("%s follows: %v", name, err)
				}
			}
			if _, err := s.Beat(ctx, store.Node{Name: name}); err != nil && ctx.Err() == nil {
				t.Errorf("%s beats: %v", name, err)
			}
			select {
			case <-tick.C:
			case <-ctx.Done():
			}
		}
	})
}
