package store_test

import (
	"errors"
	"slices"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/rowlock/rowlock/internal/pgtest"
	"github.com/rowlock/rowlock/internal/store"
)

// The least limit is what counts.
func TestConnectionRoom(t *testing.T) {
	t.Parallel()
	pool := connectTo(t, pgtest.URL(t))
	before, err := store.ConnectionRoom(t.Context(), pool)
	if err != nil || before < store.NodeConnections {
		t.Fatalf("room for %d, %v", before, err)
	}
	if _, err := pool.Exec(t.Context(), `
		DO $$ BEGIN EXECUTE format('ALTER DATABASE %I CONNECTION LIMIT 7', current_database()); END $$`); err != nil {
		t.Fatal(err)
	}
	if room, err := store.ConnectionRoom(t.Context(), pool); err != nil || room != 7 {
		t.Errorf("room for %d, %v, want 7", room, err)
	}
}

// What a connection has not got although it asked for it is told by name.
func TestLostSettings(t *testing.T) {
	t.Parallel()
	pool := connectTo(t, pgtest.URL(t))
	if lost, err := store.LostSettings(t.Context(), pool); err != nil || len(lost) > 0 {
		t.Errorf("lost %q, %v", lost, err)
	}
	if _, err := pool.Exec(t.Context(), `SET lock_timeout = 0; SET jit = on`); err != nil {
		t.Fatal(err)
	}
	if lost, err := store.LostSettings(t.Context(), pool); err != nil || !slices.Equal(lost, []string{"jit", "lock_timeout"}) {
		t.Errorf("lost %q, %v", lost, err)
	}
}

// Several nodes keep the settings at once, and again: whoever asks for none has them
// then, as the sessions of a pooler.
func TestKeepSettings(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	var nodes errgroup.Group
	for range 4 {
		nodes.Go(func() error {
			return errors.Join(store.KeepSettings(t.Context(), url), store.KeepSettings(t.Context(), url))
		})
	}
	if err := nodes.Wait(); err != nil {
		t.Fatal(err)
	}
	pool, err := store.ConnectPooler(t.Context(), url, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	if lost, err := store.LostSettings(t.Context(), pool); err != nil || len(lost) > 0 {
		t.Errorf("lost %q, %v", lost, err)
	}
}

func TestDaysAhead(t *testing.T) {
	t.Parallel()
	pool := connectTo(t, pgtest.URL(t))
	all, err := store.DaysAhead(t.Context(), pool, 1)
	if err != nil || all != 1 {
		t.Fatalf("%d days ahead of one, %v", all, err)
	}
	if _, err := pool.Exec(t.Context(), `
		DO $$ BEGIN EXECUTE 'DROP TABLE requests_' || to_char((clock_timestamp() AT TIME ZONE 'UTC')::date, 'YYYYMMDD'); END $$`); err != nil {
		t.Fatal(err)
	}
	if none, err := store.DaysAhead(t.Context(), pool, 1); err != nil || none != -1 {
		t.Errorf("%d days ahead without today's, %v", none, err)
	}
}

// connectTo opens a pool of one connection, as doctor does.
func connectTo(t *testing.T, url string) store.Pool {
	t.Helper()
	pool, err := store.Connect(t.Context(), url, 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}
