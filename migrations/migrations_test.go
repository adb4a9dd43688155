package migrations_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strconv"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/migrations"
)

// released are the files that a released version has applied somewhere, with
// the SHA-256 of each: they are never edited again. A release adds its own.
var released = map[string]string{}

func TestMigrations(t *testing.T) {
	t.Parallel()
	for _, fault := range faults(t, migrations.FS, released) {
		t.Error(fault)
	}
}

// Everything in the directory is in the program.
func TestEveryFileIsEmbedded(t *testing.T) {
	t.Parallel()
	inDirectory, err := fs.Glob(os.DirFS("."), "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	embedded, err := fs.Glob(migrations.FS, "*")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(inDirectory, embedded); diff != "" {
		t.Error(diff)
	}
}

// namePattern is NNNN_verb_noun.sql, the noun of one or more words.
var namePattern = regexp.MustCompile(`^([0-9]{4})(_[a-z0-9]+){2,}\.sql$`)

// faults lists what is wrong with a history of migrations.
func faults(t *testing.T, files fs.FS, released map[string]string) (found []string) {
	t.Helper()
	entries, err := fs.ReadDir(files, ".")
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) == 0 {
		return []string{"there are no migrations"}
	}
	last := 0
	for _, entry := range entries {
		name := entry.Name()
		match := namePattern.FindStringSubmatch(name)
		if match == nil {
			found = append(found, name+": want a name like 0001_create_accounts.sql")
			continue
		}
		number, err := strconv.Atoi(match[1])
		if err != nil {
			t.Fatal(err)
		}
		if number != last+1 {
			found = append(found, fmt.Sprintf("%s: number %d follows %d", name, number, last))
		}
		last = number
		found = append(found, faultsOf(t, files, name)...)
	}
	return append(found, edited(files, released)...)
}

func faultsOf(t *testing.T, files fs.FS, name string) (found []string) {
	t.Helper()
	text, err := fs.ReadFile(files, name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(text, []byte("-- ")) || bytes.HasPrefix(text, []byte("-- +")) {
		found = append(found, name+": want a comment first that says why")
	}
	if !bytes.Contains(text, []byte("\n-- +goose Up\n")) {
		found = append(found, name+": want a line -- +goose Up")
	}
	if bytes.Contains(text, []byte("-- +goose Down")) {
		found = append(found, name+": going down would lose data: there is no such way")
	}
	return found
}

func edited(files fs.FS, released map[string]string) (found []string) {
	for name, want := range released {
		text, err := fs.ReadFile(files, name)
		sum := sha256.Sum256(text)
		switch {
		case err != nil:
			found = append(found, name+": was released and is gone")
		case hex.EncodeToString(sum[:]) != want:
			found = append(found, name+": was released and was edited since: write a new migration")
		}
	}
	return found
}

func TestFaultsAreFound(t *testing.T) {
	t.Parallel()
	const good = "-- Why.\n\n-- +goose Up\nSELECT 1;\n"
	of := func(text string, names ...string) fstest.MapFS {
		files := fstest.MapFS{}
		for _, name := range names {
			files[name] = &fstest.MapFile{Data: []byte(text)}
		}
		return files
	}
	sum := sha256.Sum256([]byte(good))
	hash := hex.EncodeToString(sum[:])
	tests := map[string]struct {
		files    fstest.MapFS
		released map[string]string
		want     []string
	}{
		"good":       {of(good, "0001_create_a.sql", "0002_add_b_to_a.sql"), map[string]string{"0001_create_a.sql": hash}, nil},
		"none":       {fstest.MapFS{}, nil, []string{"there are no migrations"}},
		"gap":        {of(good, "0001_create_a.sql", "0003_create_b.sql"), nil, []string{"0003_create_b.sql: number 3 follows 1"}},
		"first":      {of(good, "0002_create_a.sql"), nil, []string{"0002_create_a.sql: number 2 follows 0"}},
		"zero":       {of(good, "0000_create_a.sql"), nil, []string{"0000_create_a.sql: number 0 follows 0"}},
		"duplicate":  {of(good, "0001_create_a.sql", "0001_create_b.sql"), nil, []string{"0001_create_b.sql: number 1 follows 1"}},
		"short":      {of(good, "001_create_a.sql"), nil, []string{"001_create_a.sql: want a name like 0001_create_accounts.sql"}},
		"one word":   {of(good, "0001_create.sql"), nil, []string{"0001_create.sql: want a name like 0001_create_accounts.sql"}},
		"upper case": {of(good, "0001_Create_a.sql"), nil, []string{"0001_Create_a.sql: want a name like 0001_create_accounts.sql"}},
		"no why":     {of("-- +goose Up\n\n-- +goose Up\n", "0001_create_a.sql"), nil, []string{"0001_create_a.sql: want a comment first that says why"}},
		"no up":      {of("-- Why.\nSELECT 1;\n", "0001_create_a.sql"), nil, []string{"0001_create_a.sql: want a line -- +goose Up"}},
		"way down":   {of(good+"-- +goose Down\n", "0001_create_a.sql"), nil, []string{"0001_create_a.sql: going down would lose data: there is no such way"}},
		"edited":     {of(good+" ", "0001_create_a.sql"), map[string]string{"0001_create_a.sql": hash}, []string{"0001_create_a.sql: was released and was edited since: write a new migration"}},
		"taken away": {of(good, "0001_create_a.sql"), map[string]string{"0002_create_b.sql": hash}, []string{"0002_create_b.sql: was released and is gone"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, faults(t, test.files, test.released)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
