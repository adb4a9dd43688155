package fill_test

import (
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/rowlock/rowlock/internal/bench/fill"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/pgtest"
	"github.com/rowlock/rowlock/internal/store"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// options are a small history of whole days.
var options = fill.Options{
	Events: 3000, Accounts: 2, Sources: 2, Endpoints: 3, Days: 2, BodySize: 100,
	Until: time.Date(2026, 3, 3, 0, 0, 0, 0, time.UTC),
}

func connect(t *testing.T) *pgxpool.Pool {
	t.Helper()
	pool, err := store.Connect(t.Context(), pgtest.URL(t), 2)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

func filled(t *testing.T, o fill.Options) (*pgxpool.Pool, []fill.Account) {
	t.Helper()
	pool := connect(t)
	accounts, err := fill.Fill(t.Context(), pool, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := fill.Settle(t.Context(), pool); err != nil {
		t.Fatal(err)
	}
	return pool, accounts
}

// count runs a query that returns one number.
func count(t *testing.T, pool *pgxpool.Pool, sql string) (n int) {
	t.Helper()
	if err := pool.QueryRow(t.Context(), sql).Scan(&n); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return n
}

func TestHistoryIsWhole(t *testing.T) {
	t.Parallel()
	pool, accounts := filled(t, options)
	if len(accounts) != options.Accounts || len(accounts[1].Endpoints) != options.Endpoints || len(accounts[1].Sources) != options.Sources {
		t.Errorf("accounts %v do not look as asked for", accounts)
	}
	for what, tt := range map[string]struct {
		sql  string
		want int
	}{
		"events":                 {`SELECT count(*) FROM events`, options.Events},
		"bodies":                 {`SELECT count(*) FROM event_bodies b JOIN events e USING (id, account_id) WHERE length(b.body) = e.body_size`, options.Events},
		"keys":                   {`SELECT count(*) FROM event_keys k JOIN events e ON e.id = k.event_id WHERE k.key_hash = sha256(e.key)`, options.Events},
		"undecided events":       {`SELECT count(*) FROM events WHERE status = 'accepted'`, options.Events / 100},
		"lanes":                  {`SELECT count(*) FROM lanes`, options.Accounts * options.Endpoints},
		"paused endpoints":       {`SELECT count(*) FROM endpoints WHERE state = 'paused'`, options.Accounts},
		"deliveries of nothing":  {`SELECT count(*) FROM deliveries d WHERE NOT EXISTS (SELECT FROM events e WHERE e.id = d.event_id AND e.status = 'processed')`, 0},
		"attempts of nothing":    {`SELECT count(*) FROM attempts a WHERE NOT EXISTS (SELECT FROM deliveries d WHERE d.id = a.delivery_id AND d.attempts >= a.n)`, 0},
		"delivered unsuccessful": {`SELECT count(*) FROM deliveries WHERE status = 'delivered' AND last_outcome <> 'succeeded'`, 0},
		"pending and never due":  {`SELECT count(*) FROM deliveries WHERE (status = 'pending') <> (next_attempt_at IS NOT NULL)`, 0},
	} {
		if got := count(t, pool, tt.sql); got != tt.want {
			t.Errorf("%s: %d, want %d", what, got, tt.want)
		}
	}
	for _, table := range []string{"requests", "attempts", "rollups", "usage"} {
		if count(t, pool, `SELECT count(*) FROM `+table) == 0 {
			t.Errorf("%s is empty", table)
		}
	}
}

// What is looked up by an id that is worked out from others is there.
func TestIDsAreDerived(t *testing.T) {
	t.Parallel()
	pool, _ := filled(t, options)
	rows, err := pool.Query(t.Context(), `SELECT id, event_id, endpoint_id FROM deliveries`)
	if err != nil {
		t.Fatal(err)
	}
	var id gateway.DeliveryID
	var event gateway.EventID
	var endpoint gateway.EndpointID
	tag, err := pgx.ForEachRow(rows, []any{&id, &event, &endpoint}, func() error {
		if id != gateway.DeriveDeliveryID(event, endpoint) {
			t.Errorf("delivery %s is not that of %s to %s", id, event, endpoint)
		}
		if at := event.Time(); at.Before(options.Until.AddDate(0, 0, -options.Days)) || !at.Before(options.Until) {
			t.Errorf("event %s is of %s", event, at)
		}
		return nil
	})
	if err != nil || tag.RowsAffected() == 0 {
		t.Errorf("%d deliveries, %v", tag.RowsAffected(), err)
	}
}

func TestSeedDecidesTheHistory(t *testing.T) {
	t.Parallel()
	_, first := filled(t, options)
	_, again := filled(t, options)
	if diff := cmp.Diff(first, again); diff != "" {
		t.Errorf("the same seed made another history:\n%s", diff)
	}
	other := options
	other.Seed = 1
	if _, accounts := filled(t, other); accounts[0].ID == first[0].ID {
		t.Error("another seed made the same history")
	}
}

// A large history has the indexes that a small one has, and the same plans.
func TestIndexesAreBuiltAgain(t *testing.T) {
	t.Parallel()
	pool := connect(t)
	const indexes = `
		SELECT indrelid::regclass::text || regexp_replace(pg_get_indexdef(indexrelid), '^CREATE (UNIQUE )?INDEX \S+', ''), indisvalid::text
		FROM pg_index
		WHERE indrelid::regclass::text ~ '^(events|event_bodies|requests|deliveries|attempts|event_keys)'
		ORDER BY 1, 2`
	listed := func() (all [][2]string) {
		rows, err := pool.Query(t.Context(), indexes)
		if err != nil {
			t.Fatal(err)
		}
		all, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (i [2]string, err error) { return i, row.Scan(&i[0], &i[1]) })
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	want := listed()
	conn, err := pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	meanwhile := 0
	err = fill.WithoutIndexes(t.Context(), conn.Conn(), func() error {
		meanwhile = len(listed())
		return nil
	})
	conn.Release()
	if err != nil || meanwhile == 0 || meanwhile >= len(want) {
		t.Errorf("%d indexes while it is filled, of %d: %v", meanwhile, len(want), err)
	}
	if diff := cmp.Diff(want, listed()); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}
}
