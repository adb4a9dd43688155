package app

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/migrate"
	"github.com/rowlock/rowlock/internal/pgtest"
)

// What is left to be built is built, and then the work is over.
func TestIndexesAreFinished(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context()) //nolint:errcheck // the statement was answered
	if _, err := conn.Exec(t.Context(), `CREATE INDEX attempts_new_idx ON ONLY attempts (n)`); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	finishIndexes(t.Context(), url, slog.New(slog.NewTextHandler(&log, nil)))
	if left, err := migrate.Unbuilt(t.Context(), url); err != nil || len(left) > 0 {
		t.Errorf("left: %+v, %v", left, err)
	}
	if n := strings.Count(log.String(), "index built"); n != 4 {
		t.Errorf("told of %d partitions, want 4:\n%s", n, log.String())
	}
}
