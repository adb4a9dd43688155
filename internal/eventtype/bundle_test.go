package eventtype_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/rowlock/rowlock/internal/clock"
	"github.com/rowlock/rowlock/internal/eventtype"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/pgtest"
	"github.com/rowlock/rowlock/internal/store"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

const actor = gateway.Actor("key_test")

// bundle is a service on a database of its own, with one account.
type bundle struct {
	*eventtype.Service
	store   *store.Store
	pool    *pgxpool.Pool
	clock   *clock.Clock
	account gateway.AccountID
	// told counts how often the service told of a change.
	told *atomic.Int32
}

func newBundle(t *testing.T) bundle {
	t.Helper()
	pool, err := store.Connect(t.Context(), pgtest.URL(t), 8)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	b := bundle{pool: pool, clock: clock.New(), told: new(atomic.Int32)}
	if b.store, err = store.New(pool, pgtest.Sealer(t), slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	b.Service = eventtype.New(eventtype.Options{Store: b.store, Clock: b.clock, Changed: func() { b.told.Add(1) }})
	b.account = b.newAccount(t, "acme")
	return b
}

func (b bundle) newAccount(t *testing.T, slug string) gateway.AccountID {
	t.Helper()
	id := gateway.AccountID(b.clock.NewID())
	err := b.store.InTx(t.Context(), func(tx store.Tx) error {
		return tx.CreateAccount(t.Context(), gateway.Account{ID: id, Name: slug, Slug: slug})
	})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// create declares a type; it must succeed.
func (b bundle) create(t *testing.T, in eventtype.Input) gateway.EventType {
	t.Helper()
	made, err := b.Create(t.Context(), b.account, actor, in)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// wantAudit fails unless the audit log holds these entries, oldest first, each
// as "action object: detail".
func (b bundle) wantAudit(t *testing.T, want ...string) {
	t.Helper()
	rows, err := b.pool.Query(t.Context(), `
		SELECT action || ' ' || object || coalesce(': ' || nullif(detail, ''), '')
		FROM audit_log
		WHERE actor = $1
		ORDER BY id`, string(actor))
	if err != nil {
		t.Fatal(err)
	}
	got, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(append([]string{}, want...), got); diff != "" {
		t.Errorf("audit log: %s", diff)
	}
}

// atOnce runs do n times side by side and returns how many succeeded; the
// others must fail with want.
func atOnce(t *testing.T, n int, want error, do func(context.Context) error) (succeeded int) {
	t.Helper()
	var all sync.WaitGroup
	errs := make([]error, n)
	for i := range errs {
		all.Go(func() { errs[i] = do(t.Context()) })
	}
	all.Wait()
	for _, err := range errs {
		switch {
		case err == nil:
			succeeded++
		case !errors.Is(err, want):
			t.Errorf("%v, want %v", err, want)
		}
	}
	return succeeded
}
