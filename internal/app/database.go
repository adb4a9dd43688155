package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/rowlock/rowlock/internal/config"
	"github.com/rowlock/rowlock/internal/embedded"
	"github.com/rowlock/rowlock/internal/migrate"
	"github.com/rowlock/rowlock/internal/secret"
	"github.com/rowlock/rowlock/internal/store"
)

// stopDatabase bounds how long the embedded database may take to stop.
const stopDatabase = 15 * time.Second

// database is where everything is kept: one that the operator runs, or one
// that this process runs itself.
type database struct {
	url string
	// pooler is where queries go instead; empty for none.
	pooler string
	// server is nil when the operator runs the database.
	server *embedded.Server
	log    *slog.Logger
}

// openDatabase finds the database, starting the embedded one if none is named.
func openDatabase(ctx context.Context, c config.Config, log *slog.Logger) (*database, error) {
	if !c.Embedded() {
		return &database{url: c.DatabaseURL.Reveal(), pooler: c.PoolerURL.Reveal(), log: log}, nil
	}
	server, err := embedded.Start(ctx, embedded.Options{Dir: c.DataDir, Log: log})
	if err != nil {
		return nil, fmt.Errorf("start the embedded PostgreSQL: %w", err)
	}
	return &database{url: server.URL(), server: server, log: log}, nil
}

// close stops the embedded database, if it is ours to stop.
func (d *database) close(ctx context.Context) error {
	if d.server == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopDatabase)
	defer cancel()
	if err := d.server.Stop(ctx); err != nil {
		return fmt.Errorf("stop the embedded PostgreSQL: %w", err)
	}
	return nil
}

// gone is closed when the embedded database ends by itself; nil, which never
// happens, when the operator runs it.
func (d *database) gone() <-chan struct{} {
	if d.server == nil {
		return nil
	}
	return d.server.Done()
}

// openStore brings the schema up to date, or makes sure that it is, and opens
// the store with the key of its secrets.
func openStore(ctx context.Context, c config.Config, db *database) (*store.Store, *pgxpool.Pool, error) {
	if err := bringUpToDate(ctx, c, db.url); err != nil {
		return nil, nil, err
	}
	pool, err := db.connect(ctx)
	if err != nil {
		return nil, nil, err
	}
	sealer, err := openSealer(ctx, c, pool)
	if err != nil {
		pool.Close()
		return nil, nil, err
	}
	s, err := db.store(pool, sealer)
	if err != nil {
		pool.Close()
		return nil, nil, err
	}
	return s, pool, nil
}

// connect opens the pool of the database, or of the pooler in front of it.
func (d *database) connect(ctx context.Context) (*pgxpool.Pool, error) {
	if d.pooler == "" {
		return store.Connect(ctx, d.url, store.DefaultPoolSize)
	}
	if err := store.KeepSettings(ctx, d.url); err != nil {
		return nil, err
	}
	return store.ConnectPooler(ctx, d.pooler, store.DefaultPoolSize)
}

func (d *database) store(pool *pgxpool.Pool, sealer *secret.Sealer) (*store.Store, error) {
	if d.pooler == "" {
		return store.New(pool, sealer, d.log)
	}
	return store.NewPooled(pool, d.url, sealer, d.log)
}

// withStore opens the database and its store for one call.
func withStore(ctx context.Context, c config.Config, log *slog.Logger, call func(*store.Store) error) (err error) {
	db, err := openDatabase(ctx, c, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.close(ctx)) }()
	s, pool, err := openStore(ctx, c, db)
	if err != nil {
		return err
	}
	defer pool.Close()
	return call(s)
}

func bringUpToDate(ctx context.Context, c config.Config, url string) error {
	if c.AutoMigrate {
		return migrate.Up(ctx, url)
	}
	return migrate.Check(ctx, url)
}

// errNoMasterKey tells how to get one.
var errNoMasterKey = errors.New("ROWLOCK_MASTER_KEY is required with a database of your own: set it to what `openssl rand -base64 32` prints, the same on every node, and keep a copy: without it no stored secret can be read")

// masterKey is the configured one or, with the embedded database, the one in
// the data directory, which is made when it is missing; and those that are
// accepted for reading.
func masterKey(c config.Config) (secret.MasterKey, []secret.MasterKey, error) {
	if keepsMasterKey(c) {
		if _, err := secret.LoadOrCreateMasterKey(c.DataDir); err != nil {
			return secret.MasterKey{}, nil, err
		}
	}
	return presentKeys(c)()
}

// presentKeys reads the master keys, and makes none: a process that runs reads
// them again when they were rotated.
func presentKeys(c config.Config) secret.MasterKeys {
	return func() (current secret.MasterKey, previous []secret.MasterKey, err error) {
		switch {
		case c.MasterKey != "":
			if current, err = secret.ParseMasterKey(c.MasterKey.Reveal()); err != nil {
				return current, nil, fmt.Errorf("read ROWLOCK_MASTER_KEY: %w", err)
			}
		case c.Embedded():
			if current, previous, err = secret.LoadMasterKeys(c.DataDir); err != nil {
				return current, nil, err
			}
		default:
			return current, nil, errNoMasterKey
		}
		if c.MasterKeyPrevious == "" {
			return current, previous, nil
		}
		former, err := secret.ParseMasterKey(c.MasterKeyPrevious.Reveal())
		if err != nil {
			return current, nil, fmt.Errorf("read ROWLOCK_MASTER_KEY_PREVIOUS: %w", err)
		}
		return current, append(previous, former), nil
	}
}

// openSealer opens the database's keyset, making it on the first start.
func openSealer(ctx context.Context, c config.Config, pool *pgxpool.Pool) (*secret.Sealer, error) {
	current, _, err := masterKey(c)
	if err != nil {
		return nil, err
	}
	candidate, err := secret.NewKeyset(current)
	if err != nil {
		return nil, err
	}
	wrapped, err := store.Keyset(ctx, pool, candidate)
	if err != nil {
		return nil, err
	}
	return secret.OpenWith(wrapped, presentKeys(c))
}
