// Package migrate brings a database to the schema that this build needs: our
// own migrations and River's, in that order, under one advisory lock, so that
// nodes that start together do not race.
package migrate

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/database"
	"github.com/riverqueue/river/riverdriver/riverdatabasesql"
	"github.com/riverqueue/river/rivermigrate"

	"github.com/rowlock/rowlock/migrations"
)

// lockKey is the advisory lock that one migrating process holds. Its value is
// arbitrary and must never change.
const lockKey = 0x726f776c6f636b // "rowlock"

// lookEvery is how often who waits for another one's migrations looks whether they
// are done. Waiting in the lock itself would be a transaction: an index that is
// built concurrently waits for each.
const lookEvery = 200 * time.Millisecond

// ErrPending is returned by Check while the database lacks a migration.
var ErrPending = errors.New("migrations are not applied")

// Step is one migration and whether it was applied.
type Step struct {
	// Name is the file's name, or "river N".
	Name string
	// Applied tells whether the database has it.
	Applied bool
}

// Up applies every migration that is missing. It waits while another process
// migrates. Indexes of big tables may still have to be built afterwards, by Build.
func Up(ctx context.Context, databaseURL string) error {
	return with(ctx, databaseURL, func(db *sql.DB) error {
		conn, err := db.Conn(ctx)
		if err != nil {
			return fmt.Errorf("connect to the database: %w", err)
		}
		defer conn.Close() //nolint:errcheck // the lock ends with the session
		if err := takeTurn(ctx, conn); err != nil {
			return err
		}
		fresh, err := up(ctx, db)
		if err != nil || !fresh {
			return err
		}
		// Nothing is in the tables yet.
		_, err = Build(ctx, databaseURL, slog.New(slog.DiscardHandler))
		return err
	})
}

// takeTurn returns when this session is the one that migrates.
func takeTurn(ctx context.Context, conn *sql.Conn) error {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		var mine bool
		if err := conn.QueryRowContext(ctx, `SELECT pg_try_advisory_lock($1)`, int64(lockKey)).Scan(&mine); err != nil {
			return fmt.Errorf("take the migration lock: %w", err)
		}
		if mine {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("wait for who migrates: %w", ctx.Err())
		}
	}
}

// up tells whether there was no migration before.
func up(ctx context.Context, db *sql.DB) (fresh bool, err error) {
	ours, err := provider(db)
	if err != nil {
		return false, err
	}
	version, err := ours.GetDBVersion(ctx)
	if err != nil {
		return false, fmt.Errorf("read migration status: %w", err)
	}
	err = betweenTraffic.run(ctx, func() error {
		_, err := ours.Up(ctx)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("apply migrations: %w", err)
	}
	rivers, err := rivermigrate.New(riverdatabasesql.New(db), nil)
	if err != nil {
		return false, fmt.Errorf("read the queue's migrations: %w", err)
	}
	err = betweenTraffic.run(ctx, func() error {
		_, err := rivers.Migrate(ctx, rivermigrate.DirectionUp, nil)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("apply the queue's migrations: %w", err)
	}
	return version == 0, nil
}

// Status lists every migration, ours first, in the order they are applied.
func Status(ctx context.Context, databaseURL string) ([]Step, error) {
	var steps []Step
	err := with(ctx, databaseURL, func(db *sql.DB) error {
		ours, err := provider(db)
		if err != nil {
			return err
		}
		all, err := ours.Status(ctx)
		if err != nil {
			return fmt.Errorf("read migration status: %w", err)
		}
		for _, s := range all {
			steps = append(steps, Step{Name: s.Source.Path, Applied: s.State == goose.StateApplied})
		}
		theirs, err := riverStatus(ctx, db)
		steps = append(steps, theirs...)
		return err
	})
	return steps, err
}

func riverStatus(ctx context.Context, db *sql.DB) ([]Step, error) {
	m, err := rivermigrate.New(riverdatabasesql.New(db), nil)
	if err != nil {
		return nil, fmt.Errorf("read the queue's migrations: %w", err)
	}
	existing, err := m.ExistingVersions(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the queue's migration status: %w", err)
	}
	applied := map[int]bool{}
	for _, v := range existing {
		applied[v.Version] = true
	}
	var steps []Step
	for _, v := range m.AllVersions() {
		steps = append(steps, Step{Name: fmt.Sprintf("river %d (%s)", v.Version, v.Name), Applied: applied[v.Version]})
	}
	return steps, nil
}

// Check returns ErrPending, naming the first one, when a migration is missing.
func Check(ctx context.Context, databaseURL string) error {
	steps, err := Status(ctx, databaseURL)
	if err != nil {
		return err
	}
	for _, s := range steps {
		if !s.Applied {
			return fmt.Errorf("%w: %s (run `rowlock migrate up`)", ErrPending, s.Name)
		}
	}
	return nil
}

func provider(db *sql.DB) (*goose.Provider, error) {
	p, err := goose.NewProvider(database.DialectPostgres, db, migrations.FS)
	if err != nil {
		return nil, fmt.Errorf("read migrations: %w", err)
	}
	return p, nil
}

// with opens the database for one call. No statement waits for a table for longer
// than LockWait.
func with(ctx context.Context, databaseURL string, do func(*sql.DB) error) error {
	config, err := pgx.ParseConfig(databaseURL)
	if err != nil {
		return fmt.Errorf("parse the database's address: %w", err)
	}
	config.RuntimeParams["application_name"] = "rowlock migrate"
	config.RuntimeParams["lock_timeout"] = LockWait.String()
	db := stdlib.OpenDB(*config)
	defer db.Close() //nolint:errcheck // nothing is pending
	if err := db.PingContext(ctx); err != nil {
		return fmt.Errorf("connect to the database: %w", err)
	}
	return do(db)
}
