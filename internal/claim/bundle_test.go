package claim_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"go.uber.org/goleak"

	"github.com/rowlock/rowlock/internal/claim"
	"github.com/rowlock/rowlock/internal/clock"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/pgtest"
	"github.com/rowlock/rowlock/internal/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(pgtest.Suite{M: m}) }

const (
	actor    = gateway.Actor("usr_test")
	reason   = "the worker was killed"
	poolSize = 16
)

// bundle is a ledger in a database of its own, with one account.
type bundle struct {
	*claim.Service
	store   *store.Store
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
	if b.store, err = store.New(pool, pgtest.Sealer(t), slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	b.account = b.newAccount(t, "acme")
	b.Service = claim.New(claim.Options{Store: b.store, Clock: b.clock})
	return b
}

func (b bundle) newAccount(t *testing.T, slug string) gateway.AccountID {
	t.Helper()
	id := gateway.AccountID(b.clock.NewID())
	b.in(t, func(tx store.Tx) error {
		return tx.CreateAccount(t.Context(), gateway.Account{ID: id, Name: slug, Slug: slug})
	})
	return id
}

// in runs a transaction that must succeed.
func (b bundle) in(t *testing.T, do func(store.Tx) error) {
	t.Helper()
	if err := b.store.InTx(t.Context(), do); err != nil {
		t.Fatal(err)
	}
}

// asking is somebody who wants a key for half a minute.
func asking(key string) claim.Input {
	return claim.Input{Scope: "mails", Key: key, Lease: 30 * time.Second, Holder: "w1"}
}

// claim claims a key, which must work.
func (b bundle) claim(t *testing.T, in claim.Input) gateway.Claim {
	t.Helper()
	c, err := b.Claim(t.Context(), b.account, in)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// endLease has a claim's lease be over.
func (b bundle) endLease(t *testing.T, id gateway.ClaimID) {
	t.Helper()
	if _, err := b.pool.Exec(t.Context(), `UPDATE claims SET lease_expires_at = clock_timestamp() - interval '1 second' WHERE id = $1`, id); err != nil {
		t.Fatal(err)
	}
}

// read reads a claim and everybody who held it.
func (b bundle) read(t *testing.T, id gateway.ClaimID) (gateway.Claim, []gateway.Hold) {
	t.Helper()
	c, err := b.store.Claim(t.Context(), b.account, id)
	if err != nil {
		t.Fatal(err)
	}
	holds, err := b.store.Holds(t.Context(), b.account, id, 100)
	if err != nil {
		t.Fatal(err)
	}
	return c, holds
}
