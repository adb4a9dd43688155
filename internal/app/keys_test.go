package app_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/rowlock/rowlock/internal/app"
	"github.com/rowlock/rowlock/internal/pgtest"
)

// From one master key to the next: what doctor says before, between and after,
// and which key opens the database in the end.
func TestRotateKeys(t *testing.T) {
	t.Parallel()
	url := pgtest.Empty(t)
	next := "ROWLOCK_MASTER_KEY=" + strings.Replace(masterKey, "AAEC", "BBEC", 1)
	previous := "ROWLOCK_MASTER_KEY_PREVIOUS=" + masterKey
	create := func(email string, more ...string) error {
		_, err := app.CreateAccount(t.Context(), settings(t, url, more...), quiet, app.NewAccount{Name: "Acme", Email: email})
		return err
	}
	doctor := func(want string, more ...string) {
		t.Helper()
		if text, faults := examine(t, settings(t, url, more...)); len(faults) > 0 || !strings.Contains(text, want) {
			t.Errorf("want %q in:\n%s", want, text)
		}
	}
	rotate := func(want string, more ...string) {
		t.Helper()
		var out bytes.Buffer
		if err := app.RotateKeys(t.Context(), settings(t, url, more...), quiet, &out); err != nil || !strings.Contains(out.String(), want) {
			t.Errorf("%v, want %q in:\n%s", err, want, out.String())
		}
		if strings.Contains(out.String(), masterKey) {
			t.Error("a master key is printed")
		}
	}
	if err := create("a@example.com"); err != nil {
		t.Fatal(err)
	}
	doctor("is in use for less than an hour; 0 older kept for reading")
	doctor("note   keyset         opens with the former master key alone: run `rowlock keys rotate`", next, previous)
	rotate("master key   replaced", next, previous)
	doctor("is in use for less than an hour; 1 older kept for reading", next)
	rotate("master key   as it was when this began", next)
	if err := create("b@example.com", next); err != nil {
		t.Errorf("with the new key: %v", err)
	}
	if err := create("c@example.com"); err == nil {
		t.Error("the former key still opens the keyset")
	}
	if err := create("d@example.com", next, previous); err != nil {
		t.Errorf("with both: %v", err)
	}
}
