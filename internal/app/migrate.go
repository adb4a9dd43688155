package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/rowlock/rowlock/internal/config"
	"github.com/rowlock/rowlock/internal/migrate"
)

// MigrateUp applies every migration that is missing and prints one line for
// each, or that none was.
func MigrateUp(ctx context.Context, c config.Config, log *slog.Logger, w io.Writer) (err error) {
	db, err := openDatabase(ctx, c, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.close(ctx)) }()
	before, err := migrate.Status(ctx, db.url)
	if err != nil {
		return err
	}
	if err := migrate.Up(ctx, db.url); err != nil {
		return err
	}
	return printApplied(w, before)
}

// printApplied prints what was missing before and is not now.
func printApplied(w io.Writer, before []migrate.Step) error {
	var text strings.Builder
	for _, s := range before {
		if !s.Applied {
			fmt.Fprintf(&text, "applied  %s\n", s.Name)
		}
	}
	if text.Len() == 0 {
		text.WriteString("nothing to do: every migration is applied\n")
	}
	if _, err := io.WriteString(w, text.String()); err != nil {
		return fmt.Errorf("print migrations: %w", err)
	}
	return nil
}

// MigrateStatus prints one line a migration, and one for each index that is still
// being built.
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
	return printUnbuilt(ctx, db.url, w)
}

// printUnbuilt prints the indexes that are still being built.
func printUnbuilt(ctx context.Context, databaseURL string, w io.Writer) error {
	left, err := migrate.Unbuilt(ctx, databaseURL)
	if err != nil {
		return err
	}
	for _, i := range left {
		if _, err := fmt.Fprintf(w, "building  %s\n", describeUnbuilt(i)); err != nil {
			return fmt.Errorf("print indexes: %w", err)
		}
	}
	return nil
}

// describeUnbuilt tells how far an index is.
func describeUnbuilt(i migrate.Index) string {
	return fmt.Sprintf("the index %s: %d of %d partitions of %s have it", i.Name, i.Built, i.Partitions, i.Table)
}
