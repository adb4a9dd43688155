package store_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/rowlock/rowlock/internal/clock"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/pgtest"
	"github.com/rowlock/rowlock/internal/secret"
	"github.com/rowlock/rowlock/internal/store"
)

// poolSize is how many transactions of one test can be open at once.
const poolSize = 8

// bundle is a store on a database of its own, with one account.
type bundle struct {
	*store.Store
	pool    *pgxpool.Pool
	clock   *clock.Clock
	account gateway.AccountID
}

func newBundle(t *testing.T) bundle {
	t.Helper()
	pool, err := store.Connect(t.Context(), pgtest.URL(t), poolSize)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	b := bundle{pool: pool, clock: clock.New()}
	if b.Store, err = store.New(pool, pgtest.Sealer(t), slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	b.account = b.newAccount(t, "acme")
	return b
}

// in runs a transaction that must succeed.
func (b bundle) in(t *testing.T, do func(store.Tx) error) {
	t.Helper()
	if err := b.InTx(t.Context(), do); err != nil {
		t.Fatal(err)
	}
}

// exec runs a statement that must change as many rows as wanted.
func (b bundle) exec(t *testing.T, want int64, sql string, args ...any) {
	t.Helper()
	tag, err := b.pool.Exec(t.Context(), sql, args...)
	if err != nil || tag.RowsAffected() != want {
		t.Fatalf("%s: %d rows, %v; want %d", sql, tag.RowsAffected(), err, want)
	}
}

// count runs a query that returns one number.
func (b bundle) count(t *testing.T, sql string, args ...any) int {
	t.Helper()
	return pgtest.Count(t, b.pool, sql, args...)
}

func (b bundle) newAccount(t *testing.T, slug string) gateway.AccountID {
	t.Helper()
	id := gateway.AccountID(b.clock.NewID())
	b.in(t, func(tx store.Tx) error {
		return tx.CreateAccount(t.Context(), gateway.Account{ID: id, Name: "Account " + slug, Slug: slug})
	})
	return id
}

// endpoint is one with defaults and an id of its own.
func (b bundle) endpoint() gateway.Endpoint {
	return gateway.Endpoint{
		ID:          gateway.EndpointID(b.clock.NewID()),
		Kind:        gateway.EndpointHTTP,
		URL:         "https://example.com/hook",
		MaxInFlight: gateway.DefaultMaxInFlight,
	}
}

// listened is an endpoint without an address.
func (b bundle) listened() gateway.Endpoint {
	e := b.endpoint()
	e.Kind, e.URL = gateway.EndpointListen, ""
	return e
}

// newEndpoint stores an endpoint without a secret.
func (b bundle) newEndpoint(t *testing.T) gateway.Endpoint {
	t.Helper()
	var made gateway.Endpoint
	b.in(t, func(tx store.Tx) (err error) {
		made, err = tx.CreateEndpoint(t.Context(), b.account, b.endpoint(), 0)
		return err
	})
	return made
}

// newSource stores a source of the kind github without a secret.
func (b bundle) newSource(t *testing.T) gateway.Source {
	t.Helper()
	var made gateway.Source
	b.in(t, func(tx store.Tx) (err error) {
		made, err = tx.CreateSource(t.Context(), b.account, gateway.Source{
			ID: gateway.SourceID(b.clock.NewID()), Name: "GitHub", Kind: "github", Token: secret.NewToken(""),
		})
		return err
	})
	return made
}

func (b bundle) secret(value string) gateway.Secret {
	return gateway.Secret{ID: gateway.SecretID(b.clock.NewID()), Value: value}
}

func (b bundle) addEndpointSecret(ctx context.Context, tx store.Tx, endpoint gateway.EndpointID, added gateway.Secret) error {
	_, err := tx.AddEndpointSecret(ctx, b.account, endpoint, added)
	return err
}

func (b bundle) addSourceSecret(ctx context.Context, tx store.Tx, source gateway.SourceID, added gateway.Secret) error {
	_, err := tx.AddSourceSecret(ctx, b.account, source, added)
	return err
}

// atOnce runs do n times side by side, each in a transaction of its own, and
// returns the errors.
func (b bundle) atOnce(ctx context.Context, n int, do func(tx store.Tx, i int) error) []error {
	errs := make([]error, n)
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			<-start
			errs[i] = b.InTx(ctx, func(tx store.Tx) error { return do(tx, i) })
		})
	}
	close(start)
	wg.Wait()
	return errs
}

// whileWaiting runs first in a transaction, starts second in another one,
// waits until that waits for a lock of the first, goes on with then, commits,
// and returns how the second one ended.
func (b bundle) whileWaiting(t *testing.T, first, second, then func(store.Tx) error) error {
	t.Helper()
	ended := make(chan error, 1)
	b.in(t, func(tx store.Tx) error {
		if err := first(tx); err != nil {
			return err
		}
		go func() { ended <- b.InTx(t.Context(), second) }()
		if err := b.someoneWaits(t.Context()); err != nil {
			return err
		}
		return then(tx)
	})
	return <-ended
}

// someoneWaits returns when a session of this database waits for a lock.
func (b bundle) someoneWaits(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		var waiting bool
		err := b.pool.QueryRow(ctx, `
			SELECT EXISTS (
				SELECT
				FROM pg_stat_activity
				WHERE datname = current_database()
				  AND wait_event_type = 'Lock'
			)`).Scan(&waiting)
		if err != nil || waiting {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return errors.New("nobody waits for a lock")
		}
	}
}

// eventually waits until a query returns another number than zero.
func (b bundle) eventually(t *testing.T, what, sql string) {
	t.Helper()
	deadline := time.After(20 * time.Second)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for b.count(t, sql) == 0 {
		select {
		case <-deadline:
			t.Fatalf("not within 20 s: %s", what)
		case <-tick.C:
		}
	}
}

// wantErrors fails unless ok of the errors are nil and the others are want.
func wantErrors(t *testing.T, errs []error, ok int, want error) {
	t.Helper()
	good := 0
	for _, err := range errs {
		switch {
		case err == nil:
			good++
		case !errors.Is(err, want):
			t.Errorf("error %v, want %v", err, want)
		}
	}
	if good != ok {
		t.Errorf("%d of %d succeeded, want %d", good, len(errs), ok)
	}
}

func values(secrets []gateway.Secret) []string {
	var all []string
	for _, s := range secrets {
		all = append(all, s.Value)
	}
	return slices.Clip(all)
}
