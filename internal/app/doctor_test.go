package app_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/app"
	"github.com/rowlock/rowlock/internal/config"
	"github.com/rowlock/rowlock/internal/pgtest"
)

// forgone is what the tests' server does without, to be fast. Doctor must say so
// each time.
var forgone = []string{"durability", "upkeep"}

// examine is what doctor prints, and what it finds at fault beside what the tests'
// server forgoes.
func examine(t *testing.T, c config.Config) (text string, faults []string) {
	t.Helper()
	var out bytes.Buffer
	err := app.Doctor(t.Context(), c, &out)
	for line := range strings.Lines(out.String()) {
		if rest, found := strings.CutPrefix(line, "FAULT  "); found {
			faults = append(faults, strings.TrimSpace(rest[:14]))
		}
	}
	if (err != nil) != (len(faults) > 0) {
		t.Errorf("%d faults, and the error is %v", len(faults), err)
	}
	for _, what := range forgone {
		if strings.Contains(out.String(), "ok     connection ") && !slices.Contains(faults, what) {
			t.Errorf("a server without %s is no fault:\n%s", what, out.String())
		}
	}
	if strings.Contains(out.String(), masterKey) || strings.Contains(out.String(), "hunter2") {
		t.Error("a secret is printed")
	}
	return out.String(), slices.DeleteFunc(faults, func(what string) bool { return slices.Contains(forgone, what) })
}

func TestDoctor(t *testing.T) {
	t.Parallel()
	none := []string(nil)
	for name, c := range map[string]struct {
		url      string
		settings []string
		want     []string
		faults   []string
	}{
		"healthy": {pgtest.URL(t), nil, []string{
			"ok     session        no pooler in between", "ok     migrations", "ok     indexes        all built", "ok     writes", "ok     timeouts",
			"ok     compression    lz4", "ok     connections    20 of ", "note   keyset         nothing there yet", "ok     clock",
		}, none},
		"not migrated":         {pgtest.Empty(t), []string{"ROWLOCK_AUTO_MIGRATE=false"}, []string{"run `rowlock migrate up`"}, []string{"migrations"}},
		"serve will migrate":   {pgtest.Empty(t), nil, []string{"note   migrations     some are missing: serve applies them"}, none},
		"no days, and no node": {withoutDays(t), nil, []string{"note   partitions     the big tables have none for the days to come: serve makes them"}, none},
		"no days, with nodes":  {withNode(t, withoutDays(t)), nil, []string{"0 days ahead and need 2, although nodes run"}, []string{"partitions"}},
		"an index on its way":  {withNewIndex(t), nil, []string{"note   indexes        the index attempts_new_idx: 0 of 4 partitions of attempts have it: a node"}, none},
		"days":                 {pgtest.URL(t), nil, []string{"ok     partitions     "}, none},
		"unreachable": {
			"postgres://nobody:hunter2@127.0.0.1:1/none?connect_timeout=2", nil,
			[]string{"FAULT  connection     connect to the database none at 127.0.0.1:1 as nobody: connection refused. Is PostgreSQL running there"},
			[]string{"connection"},
		},
		"unreachable pooler": {
			pgtest.URL(t),
			[]string{"ROWLOCK_POOLER_URL=postgres://nobody:hunter2@127.0.0.1:1/none?connect_timeout=2"},
			[]string{"FAULT  pooler         connect to the database none at 127.0.0.1:1 as nobody: connection refused.", "ROWLOCK_POOLER_URL", "ok     connections    3 of "},
			[]string{"pooler"},
		},
		"unreachable, by a name": {
			"postgres://nobody:hunter2@localhost:1/none?connect_timeout=2", nil,
			[]string{"FAULT  connection     connect to the database none at localhost:1 as nobody: "},
			[]string{"connection"},
		},
		"read only":      {with(pgtest.Empty(t), "default_transaction_read_only=on"), []string{"ROWLOCK_AUTO_MIGRATE=false"}, []string{"the database takes no writes: name the primary"}, []string{"writes"}},
		"serializable":   {with(pgtest.URL(t), "default_transaction_isolation=serializable"), nil, []string{"set default_transaction_isolation = 'read committed'"}, []string{"writes"}},
		"cut off":        {with(pgtest.URL(t), "statement_timeout=2000"), nil, []string{"note   timeouts       statement_timeout is 2s: exports"}, none},
		"local address":  {pgtest.URL(t), nil, []string{"note   address        http://localhost:8080 leads to this machine alone: set ROWLOCK_BASE_URL"}, none},
		"for itself":     {pgtest.URL(t), []string{"ROWLOCK_LISTEN=127.0.0.1:8080"}, []string{"ok     address        http://localhost:8080, for this machine alone"}, none},
		"plain address":  {pgtest.URL(t), []string{"ROWLOCK_BASE_URL=http://hooks.example.com"}, []string{"note   address        http://hooks.example.com is not encrypted"}, none},
		"public address": {pgtest.URL(t), []string{"ROWLOCK_BASE_URL=https://hooks.example.com"}, []string{"ok     address        https://hooks.example.com\n", "note   proxies        no proxy is trusted"}, none},
		"proxies":        {pgtest.URL(t), []string{"ROWLOCK_TRUSTED_PROXIES=10.0.0.0/8"}, []string{"ok     proxies        X-Forwarded-For is believed of 10.0.0.0/8"}, none},
		"any proxy":      {pgtest.URL(t), []string{"ROWLOCK_TRUSTED_PROXIES=10.0.0.0/8,::/0"}, []string{"has ::/0, so that everybody can make up"}, []string{"proxies"}},
		"no mail":        {pgtest.URL(t), nil, []string{"note   mail           none is sent"}, none},
		"no mail server": {pgtest.URL(t), []string{"ROWLOCK_SMTP_URL=smtp://ada:hunter2@127.0.0.1:1"}, []string{"FAULT  mail           smtp://127.0.0.1:1 lets nobody in: "}, []string{"mail"}},
		"wide open":      {pgtest.URL(t), []string{"ROWLOCK_ALLOW_NETWORKS=0.0.0.0/0"}, []string{"note   egress         ROWLOCK_ALLOW_NETWORKS has 0.0.0.0/0"}, none},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, faults := examine(t, settings(t, c.url, c.settings...))
			if !slices.Equal(faults, c.faults) {
				t.Errorf("faults %q, want %q:\n%s", faults, c.faults, text)
			}
			for _, want := range c.want {
				if !strings.Contains(text, want) {
					t.Errorf("want %q in:\n%s", want, text)
				}
			}
		})
	}
}

// with has every session on a database begin with a setting.
func with(url, setting string) string {
	if strings.Contains(url, "?") {
		return url + "&" + setting
	}
	return url + "?" + setting
}

// withoutDays is a database whose big tables have lost their days, as if nobody
// had made any for weeks.
func withoutDays(t *testing.T) string {
	t.Helper()
	url := pgtest.URL(t)
	execute(t, url, `
		DO $$
		DECLARE day regclass;
		BEGIN
			FOR day IN SELECT inhrelid::regclass FROM pg_inherits WHERE inhparent = 'attempts'::regclass LOOP
				EXECUTE format('DROP TABLE %s', day);
			END LOOP;
		END $$`)
	return url
}

// withNode is a database on which a node runs.
func withNode(t *testing.T, url string) string {
	t.Helper()
	execute(t, url, `
		INSERT INTO nodes (node, seen_at, steady_since, started_at, roles, version)
		VALUES ('n', clock_timestamp() + interval '1 hour', clock_timestamp(), clock_timestamp(), 'worker', 'v')`)
	return url
}

// withNewIndex is a database whose migrations have made an index that is still to be
// built.
func withNewIndex(t *testing.T) string {
	t.Helper()
	url := pgtest.URL(t)
	execute(t, url, `CREATE INDEX attempts_new_idx ON ONLY attempts (n)`)
	return url
}

func execute(t *testing.T, url, sql string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background()) //nolint:errcheck // the statement was answered
	if _, err := conn.Exec(t.Context(), sql); err != nil {
		t.Fatal(err)
	}
}

func TestDoctorOpensTheKeyset(t *testing.T) {
	t.Parallel()
	url := pgtest.Empty(t)
	if _, err := app.CreateAccount(t.Context(), settings(t, url), quiet, app.NewAccount{Name: "A", Email: "a@example.com"}); err != nil {
		t.Fatal(err)
	}
	other := "ROWLOCK_MASTER_KEY=" + strings.Replace(masterKey, "AAEC", "BBEC", 1)
	for name, c := range map[string]struct {
		settings []string
		want     string
		fault    bool
	}{
		"the key":           {nil, "ok     keyset", false},
		"another key":       {[]string{other}, "set ROWLOCK_MASTER_KEY to the key", true},
		"as a previous key": {[]string{other, "ROWLOCK_MASTER_KEY_PREVIOUS=" + masterKey}, "ok     keyset", false},
	} {
		text, faults := examine(t, settings(t, url, c.settings...))
		if slices.Contains(faults, "keyset") != c.fault || !strings.Contains(text, c.want) {
			t.Errorf("%s: want %q in:\n%s", name, c.want, text)
		}
	}
}

// What doctor looks at it leaves as it is: on a fresh machine it makes neither
// a database nor a key.
func TestDoctorMakesNothing(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	c, err := config.Load([]string{"ROWLOCK_DATA_DIR=" + dir})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := app.Doctor(t.Context(), c, &out); err != nil || strings.Count(out.String(), "nothing there yet: serve makes it") != 2 {
		t.Errorf("%v:\n%s", err, out.String())
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the data directory was made: %v", err)
	}
}

// A cluster whose key is gone gets no new key, which would open nothing.
func TestDoctorMissesTheKeyOfACluster(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "postgres"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "postgres", "PG_VERSION"), []byte("1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load([]string{"ROWLOCK_DATA_DIR=" + dir})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := app.Doctor(t.Context(), c, &out); err == nil || !strings.Contains(out.String(), "FAULT  master key") || !strings.Contains(out.String(), "restore it from a backup") {
		t.Errorf("%v:\n%s", err, out.String())
	}
	if _, err := os.Stat(filepath.Join(dir, "master.key")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a key was made: %v", err)
	}
}
