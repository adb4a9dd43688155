package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"
)

// NodeConnections is how many connections a node takes at the most: the pool,
// its two that listen, for notices and for the queue, and two for what comes
// seldom, such as a migration.
const NodeConnections = DefaultPoolSize + 4

// SessionConnections is how many of them go to PostgreSQL itself where the pool goes
// to a pooler: the one that listens for notices, and those for what comes seldom.
const SessionConnections = 3

// sessionSettings are what every connection of the product asks for.
var sessionSettings = map[string]string{
	"application_name":                    "rowlock",
	"enable_seqscan":                      "off",
	"idle_in_transaction_session_timeout": "5s",
	"jit":                                 "off",
	"lock_timeout":                        "5s",
	"plan_cache_mode":                     "force_generic_plan",
	"timezone":                            "UTC",
}

// trackedSettings are those that a pooler keeps for each of its clients.
var trackedSettings = map[string]string{
	"application_name": sessionSettings["application_name"],
	"timezone":         sessionSettings["timezone"],
}

// settingsLock is the advisory lock of who keeps settings: "sets".
const settingsLock = 0x73657473

// KeepSettings makes the session settings those of this role in this database, so
// that sessions have them that a pooler begins. Those that it has begun already do
// not.
func KeepSettings(ctx context.Context, databaseURL string) (err error) {
	config, err := sessionConfig(databaseURL)
	if err != nil {
		return err
	}
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return wrap("connect to keep the session's settings", err)
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		// Others that start at the same time wait.
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1)`, settingsLock); err != nil {
			return wrap("wait for who keeps the session's settings", err)
		}
		for _, name := range slices.Sorted(maps.Keys(sessionSettings)) {
			if _, ok := trackedSettings[name]; ok {
				continue
			}
			set := fmt.Sprintf(`ALTER ROLE CURRENT_USER IN DATABASE %s SET %s = '%s'`,
				pgx.Identifier{config.Database}.Sanitize(), name, sessionSettings[name])
			if _, err := tx.Exec(ctx, set); err != nil {
				return wrap("keep the session's settings", err)
			}
		}
		return nil
	})
}

// LostSettings names the session settings that do not hold on a connection
// although it asked for them, sorted: something in between has dropped them.
func LostSettings(ctx context.Context, pool Pool) ([]string, error) {
	names := slices.Sorted(maps.Keys(sessionSettings))
	values := make([]string, len(names))
	for i, name := range names {
		values[i] = sessionSettings[name]
	}
	rows, err := pool.Query(ctx, `
		SELECT name
		FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS asked (name, value, place)
		WHERE current_setting(name) <> value
		ORDER BY place`, names, values)
	if err != nil {
		return nil, wrap("compare the session's settings", err)
	}
	lost, err := pgx.CollectRows(rows, pgx.RowTo[string])
	return lost, wrap("compare the session's settings", err)
}

// ServerSettings are settings of the server as they hold on the product's
// connections, by name, in the units of pg_settings. Those that the server does
// not know are absent.
func ServerSettings(ctx context.Context, pool Pool, names []string) (map[string]string, error) {
	rows, err := pool.Query(ctx, `SELECT name, setting FROM pg_settings WHERE name = ANY($1)`, names)
	if err != nil {
		return nil, wrap("read the server's settings", err)
	}
	type row struct{ Name, Value string }
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[row])
	if err != nil {
		return nil, wrap("read the server's settings", err)
	}
	settings := make(map[string]string, len(all))
	for _, r := range all {
		settings[r.Name] = r.Value
	}
	return settings, nil
}

// HasLZ4 tells whether the server compresses with lz4, as bodies want it.
func HasLZ4(ctx context.Context, pool Pool) (bool, error) {
	var has bool
	err := pool.QueryRow(ctx, `
		SELECT EXISTS (
			SELECT 1
			FROM pg_settings
			WHERE name = 'default_toast_compression'
			  AND 'lz4' = ANY(enumvals))`).Scan(&has)
	return has, wrap("look for lz4", err)
}

// ConnectionRoom is how many connections the product's role may have at once:
// the least of what the server, the database and the role allow.
func ConnectionRoom(ctx context.Context, pool Pool) (int, error) {
	var room int
	err := pool.QueryRow(ctx, `
		SELECT LEAST(
			(SELECT sum(CASE name WHEN 'max_connections' THEN setting::int ELSE -setting::int END)
			 FROM pg_settings
			 WHERE name IN ('max_connections', 'superuser_reserved_connections', 'reserved_connections')),
			(SELECT NULLIF(datconnlimit, -1) FROM pg_database WHERE datname = current_database()),
			(SELECT NULLIF(rolconnlimit, -1) FROM pg_roles WHERE rolname = current_user))::int`).Scan(&room)
	return room, wrap("count the connections that there may be", err)
}

// Pooling is what stands between the product and the server.
type Pooling int

// What there can be in between.
const (
	// PoolingNone is the server itself, or something that only passes bytes on.
	PoolingNone Pooling = iota
	// PoolingSession lends a connection of the server for a session.
	PoolingSession
	// PoolingTransaction lends one for a transaction or a statement, so that
	// nothing that belongs to a session lasts: LISTEN, advisory locks, settings.
	PoolingTransaction
)

// LookForPooler finds out what stands in between. A pooler hands out process
// numbers of its own. One that lends by the transaction gives a second session,
// while the first one does nothing, the same process of the server.
func LookForPooler(ctx context.Context, pool Pool) (Pooling, error) {
	var processes [2]uint32
	found := PoolingNone
	for i := range processes {
		conn, err := pgx.ConnectConfig(ctx, pool.Config().ConnConfig)
		if err != nil {
			return found, wrap("look for a pooler", err)
		}
		defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // it has nothing to lose
		// A statement that is prepared might meet its own kind, of another session.
		if err := conn.QueryRow(ctx, `SELECT pg_backend_pid()`, pgx.QueryExecModeSimpleProtocol).Scan(&processes[i]); err != nil {
			return found, wrap("look for a pooler", err)
		}
		if processes[i] != conn.PgConn().PID() {
			found = PoolingSession
		}
	}
	if found == PoolingSession && processes[0] == processes[1] {
		found = PoolingTransaction
	}
	return found, nil
}

// DaysAhead is how many days in a row, from today's, have a partition of every
// big table, up to limit; -1 when today has none.
func DaysAhead(ctx context.Context, pool Pool, limit int) (int, error) {
	var missing *int
	err := pool.QueryRow(ctx, `
		SELECT min(n)
		FROM generate_series(0, $1) AS n
		WHERE NOT (`+hasPartitions(`((clock_timestamp() AT TIME ZONE 'UTC')::date + n)`)+`)`, limit).Scan(&missing)
	if err != nil {
		return 0, wrap("count the days ahead", err)
	}
	if missing == nil {
		return limit, nil
	}
	return *missing - 1, nil
}

// hasPartitions is SQL that tells whether every big table has a partition for a
// day, which is an expression of SQL itself.
func hasPartitions(day string) string {
	return fmt.Sprintf(`
		SELECT bool_and(to_regclass(parent || '_' || to_char(%s, 'YYYYMMDD')) IS NOT NULL)
		FROM unnest(ARRAY['events', 'event_bodies', 'requests', 'deliveries', 'attempts']) AS parent`, day)
}
