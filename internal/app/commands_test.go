package app_test

import (
	"bytes"
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
	for range 2 {
		if err := app.MigrateUp(t.Context(), c, quiet); err != nil {
			t.Fatal(err)
		}
	}
	if after := status(); strings.Contains(after, "pending  0") || !strings.Contains(after, "applied  river 1") {
		t.Errorf("after:\n%s", after)
	}
}

func TestDoctor(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		url   string
		want  string
		fault bool
	}{
		"healthy":      {url: pgtest.URL(t), want: "ok     migrations"},
		"not migrated": {url: pgtest.Empty(t), want: "FAULT  migrations", fault: true},
		"unreachable":  {url: "postgres://nobody@127.0.0.1:1/none?connect_timeout=2", want: "FAULT  connection", fault: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			err := app.Doctor(t.Context(), settings(t, c.url), &out)
			if (err != nil) != c.fault || !strings.Contains(out.String(), c.want) {
				t.Errorf("%v, want %q in:\n%s", err, c.want, out.String())
			}
			if strings.Contains(out.String(), masterKey) {
				t.Error("the master key is printed")
			}
		})
	}
}
