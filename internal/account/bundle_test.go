package account_test

import (
	"log/slog"
	"os"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/rowlock/rowlock/internal/account"
	"github.com/rowlock/rowlock/internal/clock"
	"github.com/rowlock/rowlock/internal/pgtest"
	"github.com/rowlock/rowlock/internal/store"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// bundle is a service on a database of its own, without any account.
type bundle struct {
	*account.Service
	store *store.Store
	pool  *pgxpool.Pool
}

func newBundle(t *testing.T) bundle {
	t.Helper()
	pool, err := store.Connect(t.Context(), pgtest.URL(t), 8)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	b := bundle{pool: pool}
	if b.store, err = store.New(pool, nil, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	b.Service = account.NewService(b.store, clock.New())
	return b
}

func (b bundle) create(t *testing.T, name, email string) account.Created {
	t.Helper()
	made, err := b.Create(t.Context(), account.New{Name: name, Email: email})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// text runs a query that returns one text.
func (b bundle) text(t *testing.T, sql string, args ...any) string {
	t.Helper()
	var got string
	if err := b.pool.QueryRow(t.Context(), sql, args...).Scan(&got); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return got
}
