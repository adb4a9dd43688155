package pgtest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"runtime/debug"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/migrate"
	"github.com/rowlock/rowlock/migrations"
)

const (
	// strategy is how CREATE DATABASE copies the template. With 300 tables, in
	// memory, FILE_COPY takes 26 ms and WAL_LOG 51 ms; on a disk they are equal.
	strategy = "FILE_COPY"
	// templatePrefix begins every template's name; the day and the hash of the
	// migrations follow.
	templatePrefix = "rowlock_template_"
	// templateLock is the advisory lock under which one process makes the
	// template that all share. Its value is arbitrary.
	templateLock = 0x70677465737400
	// day is the layout of the day in a template's name.
	day = "20060102"
)

// ensureTemplate returns the name of a database with every migration applied
// that nobody can connect to, made by whichever process comes first.
func ensureTemplate(ctx context.Context, admin string) (string, error) {
	name, err := templateFor(time.Now().UTC(), migrations.FS)
	if err != nil {
		return "", err
	}
	conn, err := pgx.Connect(ctx, admin)
	if err != nil {
		return "", fmt.Errorf("connect to the test server: %w", err)
	}
	defer conn.Close(ctx) //nolint:errcheck // the lock ends with the session
	if _, err := conn.Exec(ctx, `SELECT pg_advisory_lock($1)`, int64(templateLock)); err != nil {
		return "", fmt.Errorf("wait for the template: %w", err)
	}
	var ready bool
	err = conn.QueryRow(ctx, `SELECT EXISTS (
		SELECT FROM pg_database
		WHERE datname = $1 AND datistemplate)`, name).Scan(&ready)
	if err != nil {
		return "", fmt.Errorf("look for the template: %w", err)
	}
	if !ready {
		err = makeTemplate(ctx, conn, admin, name)
	}
	return name, err
}

// makeTemplate marks the database as a template last: one without the mark was
// left half made.
func makeTemplate(ctx context.Context, conn *pgx.Conn, admin, name string) error {
	url, err := addressOf(admin, name)
	if err != nil {
		return err
	}
	for _, sql := range []string{
		`DROP DATABASE IF EXISTS ` + quote(name) + ` WITH (FORCE)`,
		createFrom(name, pristine),
	} {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return fmt.Errorf("make the template: %w", err)
		}
	}
	if err := migrate.Up(ctx, url); err != nil {
		return fmt.Errorf("migrate the template: %w", err)
	}
	if _, err := conn.Exec(ctx, `ALTER DATABASE `+quote(name)+` WITH IS_TEMPLATE true ALLOW_CONNECTIONS false`); err != nil {
		return fmt.Errorf("close the template: %w", err)
	}
	return nil
}

// templateFor names the template: by the migrations, the queue's included,
// because other branches may share the server; by the day, because migrations
// make partitions from the day they run on.
func templateFor(now time.Time, files fs.FS) (string, error) {
	hash := sha256.New()
	err := fs.WalkDir(files, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(files, path)
		fmt.Fprintf(hash, "%q %d\n%s", path, len(text), text)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("read the migrations: %w", err)
	}
	fmt.Fprint(hash, queueVersion())
	return templatePrefix + now.Format(day) + "_" + hex.EncodeToString(hash.Sum(nil)[:8]), nil
}

// queueVersion is the release of River, which brings migrations of its own.
func queueVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	var versions strings.Builder
	for _, m := range info.Deps {
		if strings.HasPrefix(m.Path, "github.com/riverqueue/") {
			versions.WriteString(m.Path + "@" + m.Version + "\n")
		}
	}
	return versions.String()
}
