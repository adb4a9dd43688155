// Package store holds all of the product's SQL: one file a subject, each
// statement where it runs. A guard is the last clause of the statement that
// writes, the comment above it names the promise that it keeps, and its
// affected-row count is the decision.
//
// The account's id is the first argument after the context of every method on
// tenant data. A transaction begins in a use case, with InTx; methods that
// must be part of one hang on Tx, the others on Store.
package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivertype"

	"github.com/rowlock/rowlock/internal/secret"
)

const (
	// DefaultPoolSize is how many connections a node keeps at the most. The
	// work is grouped into few transactions, so that a small pool is the
	// faster one.
	DefaultPoolSize = 16
	// NotifyCooldown is how often at the most a queue is told of new jobs.
	NotifyCooldown = 5 * time.Millisecond
	// rollbackTimeout bounds a roll-back after the caller's context ended.
	rollbackTimeout = 5 * time.Second
)

const dialTimeout = 10 * time.Second

// keepAlive finds out within some 15 s that the database's host is gone, which
// would otherwise take minutes.
var keepAlive = net.KeepAliveConfig{Enable: true, Idle: 5 * time.Second, Interval: 3 * time.Second, Count: 3}

// Store reads and writes the database.
type Store struct {
	pool   *pgxpool.Pool
	queue  *river.Client[pgx.Tx]
	sealer *secret.Sealer
	keys   *follower
	// session is how to connect to PostgreSQL itself, for what belongs to a session.
	session *pgx.ConnConfig
}

// Connect opens a pool with the product's session settings: a frozen process
// frees what it holds within seconds, and plans are made once for all
// partitions. Compiling them would take longer than any of them runs: a plan
// for a month of days looks dear, and reads a page of one. Nothing that grows is
// read whole: somebody who analyzes the days ahead, too, as after an upgrade,
// must not have a page read and sort all of a day, since reading the empty ones
// whole looks cheaper than in order.
func Connect(ctx context.Context, databaseURL string, size int32) (*pgxpool.Pool, error) {
	config, err := poolConfig(databaseURL, size)
	if err != nil {
		return nil, err
	}
	maps.Copy(config.ConnConfig.RuntimeParams, sessionSettings)
	return openPool(ctx, config)
}

// ConnectPooler opens a pool as Connect does, through a pooler that lends a session
// for one transaction: no statement has a name there, and the session settings are
// those that KeepSettings has kept.
func ConnectPooler(ctx context.Context, poolerURL string, size int32) (*pgxpool.Pool, error) {
	config, err := poolConfig(poolerURL, size)
	if err != nil {
		return nil, err
	}
	config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
	maps.Copy(config.ConnConfig.RuntimeParams, trackedSettings)
	return openPool(ctx, config)
}

func poolConfig(url string, size int32) (*pgxpool.Config, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("parse the database's address: %w", err)
	}
	config.MaxConns = size
	config.ConnConfig.DialFunc = (&net.Dialer{Timeout: dialTimeout, KeepAliveConfig: keepAlive}).DialContext
	return config, nil
}

func openPool(ctx context.Context, config *pgxpool.Config) (*pgxpool.Pool, error) {
	config.AfterConnect = func(_ context.Context, conn *pgx.Conn) error {
		registerTypes(conn.TypeMap())
		return nil
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("open the database pool: %w", err)
	}
	return pool, nil
}

// New makes a Store on a pool that Connect opened. The sealer opens and seals
// stored secrets; a Store without one cannot read or write any.
func New(pool *pgxpool.Pool, sealer *secret.Sealer, log *slog.Logger) (*Store, error) {
	return newStore(pool, pool.Config().ConnConfig, sealer, log)
}

// NewPooled makes a Store on a pool that ConnectPooler opened. What belongs to a
// session has connections of its own, to PostgreSQL itself at databaseURL.
func NewPooled(pool *pgxpool.Pool, databaseURL string, sealer *secret.Sealer, log *slog.Logger) (*Store, error) {
	session, err := sessionConfig(databaseURL)
	if err != nil {
		return nil, err
	}
	return newStore(pool, session, sealer, log)
}

// sessionConfig is a connection of its own, with the product's session settings.
func sessionConfig(databaseURL string) (*pgx.ConnConfig, error) {
	config, err := poolConfig(databaseURL, 1)
	if err != nil {
		return nil, err
	}
	maps.Copy(config.ConnConfig.RuntimeParams, sessionSettings)
	return config.ConnConfig, nil
}

func newStore(pool *pgxpool.Pool, session *pgx.ConnConfig, sealer *secret.Sealer, log *slog.Logger) (*Store, error) {
	queue, err := river.NewClient(riverpgxv5.New(pool), &river.Config{
		Logger: log, FetchCooldown: NotifyCooldown, Hooks: []rivertype.Hook{&dueAtOnce{}},
	})
	if err != nil {
		return nil, fmt.Errorf("make the queue's client: %w", err)
	}
	keys := &follower{sealer: sealer, connect: func(ctx context.Context) (*pgx.Conn, error) {
		return pgx.ConnectConfig(ctx, session)
	}}
	return &Store{pool: pool, queue: queue, sealer: sealer, keys: keys, session: session}, nil
}

// Tx is a transaction. Its methods are those of the aggregates' files.
type Tx struct {
	tx    pgx.Tx
	store *Store
}

// InTx runs do in a transaction and commits it, or rolls it back when do
// returns an error. An error of the commit itself says nothing about its
// fate: see IsUnknownFate.
func (s *Store) InTx(ctx context.Context, do func(Tx) error) error {
	tx, err := s.pool.Begin(ctx)
	if err != nil {
		return wrap("begin a transaction", err)
	}
	// Deferred, so that a panic in do gives the connection back, too. After a
	// commit it does nothing.
	defer rollback(ctx, tx)
	if err := do(Tx{tx: tx, store: s}); err != nil {
		return err
	}
	if err := tx.Commit(ctx); err != nil {
		return &unknownFateError{wrap("commit", err)}
	}
	return nil
}

// rollback ends a transaction even if the caller's context is over. When it
// does not get through, closing the connection does the same.
func rollback(ctx context.Context, tx pgx.Tx) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackTimeout)
	defer cancel()
	_ = tx.Rollback(ctx)
}

// unknownFateError is a COMMIT whose answer was lost.
type unknownFateError struct{ error }

func (e *unknownFateError) Unwrap() error { return e.error }

// IsUnknownFate tells whether an error of InTx came from the commit itself, so
// that the transaction may or may not have happened.
func IsUnknownFate(err error) bool {
	var unknown *unknownFateError
	return errors.As(err, &unknown)
}

// Ping asks the database for an answer.
func (s *Store) Ping(ctx context.Context) error {
	return wrap("reach the database", s.pool.Ping(ctx))
}
