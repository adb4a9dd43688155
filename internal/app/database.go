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
	// server is nil when the operator runs the database.
	server *embedded.Server
	log    *slog.Logger
}

// openDatabase finds the database, starting the embedded one if none is named.
func openDatabase(ctx context.Context, c config.Config, log *slog.Logger) (*database, error) {
	if !c.Embedded() {
		return &database{url: c.DatabaseURL.Reveal(), log: log}, nil
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
	pool, err := store.Connect(ctx, db.url, store.DefaultPoolSize)
	if err != nil {
		return nil, nil, err
	}
	sealer, err := openSealer(ctx, c, pool)
	if err != nil {
		pool.Close()
		return nil, nil, err
	}
	s, err := store.New(pool, sealer, db.log)
	if err != nil {
		pool.Close()
		return nil, nil, err
	}
	return s, pool, nil
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
// the data directory.
func masterKey(c config.Config) (secret.MasterKey, []secret.MasterKey, error) {
	var previous []secret.MasterKey
	if c.MasterKeyPrevious != "" {
		key, err := secret.ParseMasterKey(c.MasterKeyPrevious.Reveal())
		if err != nil {
			return key, nil, fmt.Errorf("read ROWLOCK_MASTER_KEY_PREVIOUS: %w", err)
		}
		previous = append(previous, key)
	}
	switch {
	case c.MasterKey != "":
		key, err := secret.ParseMasterKey(c.MasterKey.Reveal())
		if err != nil {
			return key, nil, fmt.Errorf("read ROWLOCK_MASTER_KEY: %w", err)
		}
		return key, previous, nil
	case c.Embedded():
		key, err := secret.LoadOrCreateMasterKey(c.DataDir)
		return key, previous, err
	}
	return secret.MasterKey{}, nil, errNoMasterKey
}

// openSealer opens the database's keyset, making it on the first start.
func openSealer(ctx context.Context, c config.Config, pool *pgxpool.Pool) (*secret.Sealer, error) {
	current, previous, err := masterKey(c)
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
	return secret.Open(wrapped, current, previous...)
}
