package source_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/rowlock/rowlock/internal/clock"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/pgtest"
	"github.com/rowlock/rowlock/internal/source"
	"github.com/rowlock/rowlock/internal/store"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

const actor = gateway.Actor("key_test")

// bundle is a service on a database of its own, with one account.
type bundle struct {
	*source.Service
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
	b.Service = source.New(source.Options{Store: b.store, Clock: b.clock, Changed: func() { b.told.Add(1) }})
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

// create makes a source of the kind github with the secret "first".
func (b bundle) create(t *testing.T) gateway.Source {
	t.Helper()
	made, err := b.Create(t.Context(), b.account, actor, source.Input{
		Name: new("GitHub"), Kind: new("github"), Secret: new("first"),
	})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func (b bundle) exec(t *testing.T, sql string, args ...any) {
	t.Helper()
	if _, err := b.pool.Exec(t.Context(), sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// wantAudit fails unless the audit log holds these entries, oldest first, each
// as "action" or "action: detail".
func (b bundle) wantAudit(t *testing.T, want ...string) {
	t.Helper()
	rows, err := b.pool.Query(t.Context(), `
		SELECT concat_ws(': ', action, nullif(detail, ''))
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
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("audit log: %s", diff)
	}
}

// values are the live secrets' texts, newest first.
func (b bundle) values(t *testing.T, id gateway.SourceID) []string {
	t.Helper()
	live, err := b.store.SourceSecrets(t.Context(), b.account, id)
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, s := range live {
		texts = append(texts, s.Value)
	}
	return texts
}

// atOnce runs do n times side by side and returns how many succeeded; the
// others must fail with want.
func atOnce(t *testing.T, n int, want error, do func(ctx context.Context) error) int {
	t.Helper()
	errs := make([]error, n)
	pgtest.AtOnce(n, func(i int) { errs[i] = do(t.Context()) })
	good := 0
	for _, err := range errs {
		switch {
		case err == nil:
			good++
		case want == nil || !errors.Is(err, want):
			t.Errorf("error %v, want %v", err, want)
		}
	}
	return good
}
