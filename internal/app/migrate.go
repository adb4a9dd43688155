package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/rowlock/rowlock/internal/config"
	"github.com/rowlock/rowlock/internal/migrate"
)

// MigrateUp applies every migration that is missing.
func MigrateUp(ctx context.Context, c config.Config, log *slog.Logger) (err error) {
	db, err := openDatabase(ctx, c, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.close(ctx)) }()
	return migrate.Up(ctx, db.url)
}

// MigrateStatus prints one line a migration.
func MigrateStatus(ctx context.Context, c config.Config, w io.Writer) (err error) {
	db, err := openDatabase(ctx, c, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.close(ctx)) }()
	steps, err := migrate.Status(ctx, db.url)
	if err != nil {
		return err
	}
	for _, s := range steps {
		state := "pending"
		if s.Applied {
			state = "applied"
		}
		if _, err := fmt.Fprintf(w, "%s  %s\n", state, s.Name); err != nil {
			return fmt.Errorf("print migrations: %w", err)
		}
	}
	return nil
}
