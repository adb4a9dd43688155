package app_test

import (
	"bytes"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rowlock/rowlock/internal/app"
	"github.com/rowlock/rowlock/internal/config"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/pgtest"
)

// masterKey is 32 bytes in base64, for tests.
const masterKey = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="

func settings(t *testing.T, databaseURL string, more ...string) config.Config {
	t.Helper()
	c, err := config.Load(append([]string{
		"ROWLOCK_DATABASE_URL=" + databaseURL, "ROWLOCK_DATA_DIR=" + t.TempDir(), "ROWLOCK_MASTER_KEY=" + masterKey,
	}, more...))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

var quiet = slog.New(slog.DiscardHandler)

func TestCreateAccount(t *testing.T) {
	t.Parallel()
	c := settings(t, pgtest.Empty(t))
	made, err := app.CreateAccount(t.Context(), c, quiet, app.NewAccount{Name: "Acme", Email: "owner@example.com"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := gateway.ParseID[gateway.AccountID](made.AccountID); err != nil {
		t.Errorf("account id %q: %v", made.AccountID, err)
	}
	if _, err := gateway.ParseID[gateway.UserID](made.UserID); err != nil {
		t.Errorf("user id %q: %v", made.UserID, err)
	}
	if !strings.HasPrefix(made.APIKey, "rk_") {
		t.Error("the API key does not begin with rk_")
	}
	if _, err := app.CreateAccount(t.Context(), c, quiet, app.NewAccount{Name: "Acme", Email: "owner@example.com"}); err == nil {
		t.Error("one address owns two accounts")
	}
	if _, err := app.CreateAccount(t.Context(), c, quiet, app.NewAccount{Name: "Acme", Email: "second@example.com"}); err != nil {
		t.Errorf("a second account of the same name: %v", err)
	}
}

// Stored secrets cannot be read under another master key: a process with the
// wrong one must not start and seal new secrets with it.
func TestWrongMasterKeyStopsTheStart(t *testing.T) {
	t.Parallel()
	url := pgtest.Empty(t)
	if _, err := app.CreateAccount(t.Context(), settings(t, url), quiet, app.NewAccount{Name: "A", Email: "a@example.com"}); err != nil {
		t.Fatal(err)
	}
	other := "ROWLOCK_MASTER_KEY=" + strings.Replace(masterKey, "AAEC", "BBEC", 1)
	_, err := app.CreateAccount(t.Context(), settings(t, url, other), quiet, app.NewAccount{Name: "B", Email: "b@example.com"})
	if err == nil {
		t.Fatal("another master key opens the keyset")
	}
	if strings.Contains(err.Error(), masterKey) {
		t.Error("the error shows a key")
	}
	previous := "ROWLOCK_MASTER_KEY_PREVIOUS=" + masterKey
	if _, err := app.CreateAccount(t.Context(), settings(t, url, other, previous), quiet, app.NewAccount{Name: "C", Email: "c@example.com"}); err != nil {
		t.Errorf("with the former key as previous: %v", err)
	}
}

func TestMigrateUpAndStatus(t *testing.T) {
	t.Parallel()
	c := settings(t, pgtest.Empty(t))
	status := func() string {
		var out bytes.Buffer
		if err := app.MigrateStatus(t.Context(), c, &out); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	if before := status(); strings.Contains(before, "applied") || !strings.Contains(before, "pending  0001_") {
		t.Errorf("before:\n%s", before)
	}
	up := func() string {
		var out bytes.Buffer
		if err := app.MigrateUp(t.Context(), c, quiet, &out); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	if first := up(); !strings.HasPrefix(first, "applied  0001_") || !strings.Contains(first, "\napplied  river 1") {
		t.Errorf("up says:\n%s", first)
	}
	if again := up(); again != "nothing to do: every migration is applied\n" {
		t.Errorf("up, again, says:\n%s", again)
	}
	if after := status(); strings.Contains(after, "pending  0") || !strings.Contains(after, "applied  river 1") {
		t.Errorf("after:\n%s", after)
	}
}

func TestDoctor(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		url      string
		settings []string
		want     string
		fault    bool
	}{
		"healthy":                {url: pgtest.URL(t), want: "ok     migrations"},
		"no keyset yet":          {url: pgtest.URL(t), want: "note   keyset         nothing there yet"},
		"not migrated":           {url: pgtest.Empty(t), settings: []string{"ROWLOCK_AUTO_MIGRATE=false"}, want: "FAULT  migrations", fault: true},
		"serve will migrate":     {url: pgtest.Empty(t), want: "note   migrations     some are missing: serve applies them"},
		"unreachable":            {url: "postgres://nobody:hunter2@127.0.0.1:1/none?connect_timeout=2", want: "FAULT  connection     connect to the database none at 127.0.0.1:1 as nobody: connection refused\n", fault: true},
		"unreachable, by a name": {url: "postgres://nobody:hunter2@localhost:1/none?connect_timeout=2", want: "FAULT  connection     connect to the database none at localhost:1 as nobody: ", fault: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			err := app.Doctor(t.Context(), settings(t, c.url, c.settings...), &out)
			if (err != nil) != c.fault || !strings.Contains(out.String(), c.want) {
				t.Errorf("%v, want %q in:\n%s", err, c.want, out.String())
			}
			if strings.Contains(out.String(), masterKey) || strings.Contains(out.String(), "hunter2") {
				t.Error("a secret is printed")
			}
		})
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
		"another key":       {[]string{other}, "FAULT  keyset", true},
		"as a previous key": {[]string{other, "ROWLOCK_MASTER_KEY_PREVIOUS=" + masterKey}, "ok     keyset", false},
	} {
		var out bytes.Buffer
		err := app.Doctor(t.Context(), settings(t, url, c.settings...), &out)
		if (err != nil) != c.fault || !strings.Contains(out.String(), c.want) {
			t.Errorf("%s: %v, want %q in:\n%s", name, err, c.want, out.String())
		}
		if c.fault && !strings.Contains(out.String(), "set ROWLOCK_MASTER_KEY to the key") {
			t.Errorf("%s: it does not say what to do:\n%s", name, out.String())
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

func TestCreateAccountSaysWhatToDo(t *testing.T) {
	t.Parallel()
	c := settings(t, pgtest.Empty(t))
	for name, n := range map[string]app.NewAccount{
		"name":     {Name: strings.Repeat("x", 201), Email: "a@example.com"},
		"email":    {Name: "Acme", Email: "nobody"},
		"password": {Name: "Acme", Email: "a@example.com", Password: "short"},
	} {
		_, err := app.CreateAccount(t.Context(), c, quiet, n)
		if input, ok := errors.AsType[*app.InputError](err); !ok || !strings.HasPrefix(input.Error(), name+": ") || input.Hint() == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	n := app.NewAccount{Name: "Acme", Email: "taken@example.com"}
	if _, err := app.CreateAccount(t.Context(), c, quiet, n); err != nil {
		t.Fatal(err)
	}
	_, err := app.CreateAccount(t.Context(), c, quiet, n)
	if hint, ok := errors.AsType[interface {
		error
		Hint() string
	}](err); !ok || !strings.Contains(hint.Error(), "mail address") || hint.Hint() == "" {
		t.Errorf("a taken address: %v", err)
	}
}
