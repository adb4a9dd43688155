package pgtest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/secret"
)

const (
	// patience is how long Until waits for what must happen: long, since the
	// machine may be busy with other tests.
	patience = 20 * time.Second
	// lookEvery is how often Until looks.
	lookEvery = 5 * time.Millisecond
)

// Sealer makes a sealer of a keyset of its own.
func Sealer(t testing.TB) *secret.Sealer {
	t.Helper()
	master := secret.MasterKey{1, 2, 3}
	wrapped, err := secret.NewKeyset(master)
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	sealer, err := secret.Open(wrapped, master)
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	return sealer
}

// Until waits until something holds, and fails the test with what was waited
// for when it does not within a while.
func Until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	deadline := time.After(patience)
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for !holds() {
		select {
		case <-deadline:
			t.Fatalf("not within %s: %s", patience, what)
		case <-tick.C:
		}
	}
}

// Querier is a connection, a pool or a transaction.
type Querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// Count runs a query that returns one number.
func Count(t testing.TB, q Querier, sql string, args ...any) int {
	t.Helper()
	var n int
	if err := q.QueryRow(t.Context(), sql, args...).Scan(&n); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return n
}

// AtOnce runs do n times side by side, started together, and waits for all.
func AtOnce(n int, do func(i int)) {
	start := make(chan struct{})
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			<-start
			do(i)
		})
	}
	close(start)
	all.Wait()
}

// Background runs something until the test is over, and waits for its end.
func Background(t testing.TB, run func(context.Context)) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
}
