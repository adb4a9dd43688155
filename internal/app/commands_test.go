package app_test

import (
	"bytes"
	"errors"
	"log/slog"
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
	if after := status(); strings.Contains(after, "pending  0") || !strings.Contains(after, "applied  river 1") || strings.Contains(after, "building") {
		t.Errorf("after:\n%s", after)
	}
	execute(t, c.DatabaseURL.Reveal(), `CREATE INDEX attempts_new_idx ON ONLY attempts (n)`)
	if building := status(); !strings.Contains(building, "building  the index attempts_new_idx: 0 of 4 partitions of attempts have it\n") {
		t.Errorf("with an index on its way:\n%s", building)
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
