package main

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/pgtest"
)

func TestAccountCreate(t *testing.T) {
	t.Parallel()
	environ := []string{
		"ROWLOCK_DATABASE_URL=" + pgtest.Empty(t),
		"ROWLOCK_MASTER_KEY=AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
	}
	for _, tt := range []struct {
		name, email, password string
		code                  int
		says, hint            string
	}{
		{name: "Acme", email: "nobody", code: exitUsage, says: "email: want an address", hint: "account create --help"},
		{name: strings.Repeat("x", 201), email: "a@example.com", code: exitUsage, says: "name: want 1 to 200 characters", hint: "account create --help"},
		{name: "Acme", email: "a@example.com", password: "short", code: exitUsage, says: "password: want at least", hint: "account create --help"},
		{name: "Acme", email: "a@example.com", password: "correct horse battery", code: exitOK},
		{name: "Acme", email: "a@example.com", code: exitFailure, says: "another user has this mail address", hint: "another address"},
	} {
		args := []string{"account", "create", "--name", tt.name, "--email", tt.email}
		if tt.password != "" {
			args = append(args, "--password-stdin")
		}
		got := call(t, tt.password, environ, args...)
		problem, hint, _ := strings.Cut(got.stderr, "\nHint: ")
		if got.code != tt.code || !strings.Contains(problem, tt.says) || !strings.Contains(hint, tt.hint) {
			t.Errorf("%.20q %q: %+v, want exit code %d, %q and the hint %q", tt.name, tt.email, got, tt.code, tt.says, tt.hint)
		}
	}
}

func TestAccountResetLink(t *testing.T) {
	t.Parallel()
	environ := []string{
		"ROWLOCK_DATABASE_URL=" + pgtest.Empty(t),
		"ROWLOCK_MASTER_KEY=AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
		"ROWLOCK_BASE_URL=https://hooks.example.com",
	}
	const advice = "rowlock account reset-link --email "
	made := call(t, "", environ, "account", "create", "--name", "Acme", "--email", "a@example.com")
	if made.code != exitOK || !strings.Contains(made.stderr, advice+"a@example.com\n") || strings.Contains(made.stdout, advice) {
		t.Errorf("an owner without a password: %+v", made)
	}
	if made := call(t, "", environ, "account", "create", "--name", "B", "--email", "b@example.com", "--json"); made.code != exitOK || strings.Contains(made.stderr, advice) {
		t.Errorf("as JSON: %+v", made)
	}
	if made := call(t, "correct horse battery", environ, "account", "create", "--name", "C", "--email", "c@example.com", "--password-stdin"); made.code != exitOK || strings.Contains(made.stderr, advice) {
		t.Errorf("with a password: %+v", made)
	}
	got := call(t, "", environ, "account", "reset-link", "--email", "A@example.com")
	if token, ok := strings.CutPrefix(got.stdout, "https://hooks.example.com/reset/"); got.code != exitOK || !ok || len(token) < 20 || strings.Count(token, "\n") != 1 {
		t.Errorf("%+v, want a link on a line", got)
	}
	for email, want := range map[string]result{
		"nobody":          {code: exitUsage, stderr: "email: want an address"},
		"eve@example.com": {code: exitFailure, stderr: "no user has this mail address"},
	} {
		got := call(t, "", environ, "account", "reset-link", "--email", email)
		if got.code != want.code || got.stdout != "" || !strings.Contains(got.stderr, want.stderr) || !strings.Contains(got.stderr, "\nHint: ") || strings.Contains(got.stderr, "account create") {
			t.Errorf("%s: %+v, want %+v and a hint", email, got, want)
		}
	}
}

func TestMigrateUpTellsWhatItDid(t *testing.T) {
	t.Parallel()
	environ := []string{
		"ROWLOCK_DATABASE_URL=" + pgtest.Empty(t),
		"ROWLOCK_MASTER_KEY=AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
	}
	if got := call(t, "", environ, "migrate", "up"); got.code != exitOK || !strings.HasPrefix(got.stdout, "applied  0001_") {
		t.Errorf("%+v", got)
	}
	if got := call(t, "", environ, "migrate", "up"); got.code != exitOK || !strings.HasPrefix(got.stdout, "nothing to do") {
		t.Errorf("%+v", got)
	}
}

func TestAccountTwoStepOff(t *testing.T) {
	t.Parallel()
	database := pgtest.Empty(t)
	environ := []string{
		"ROWLOCK_DATABASE_URL=" + database,
		"ROWLOCK_MASTER_KEY=AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
	}
	if made := call(t, "", environ, "account", "create", "--name", "Acme", "--email", "a@example.com"); made.code != exitOK {
		t.Fatalf("%+v", made)
	}
	if got := call(t, "", environ, "account", "two-step-off", "--email", "a@example.com"); got.code != exitFailure || !strings.Contains(got.stderr, "two-step log-in is off for this user") || !strings.Contains(got.stderr, "\nHint: ") {
		t.Errorf("while it is off: %+v", got)
	}
	if got := call(t, "", environ, "account", "two-step-off", "--email", "eve@example.com"); got.code != exitFailure || !strings.Contains(got.stderr, "no user has this mail address") {
		t.Errorf("of nobody: %+v", got)
	}
	conn, err := pgx.Connect(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context()) //nolint:errcheck // nothing more is read
	if _, err := conn.Exec(t.Context(), `UPDATE users SET step_key = 'sealed', two_step_at = now()`); err != nil {
		t.Fatal(err)
	}
	if got := call(t, "", environ, "account", "two-step-off", "--email", "A@example.com"); got.code != exitOK || got.stdout != "Two-step log-in is off for A@example.com.\n" {
		t.Errorf("%+v", got)
	}
	var off bool
	if err := conn.QueryRow(t.Context(), `SELECT two_step_at IS NULL AND step_key IS NULL FROM users`).Scan(&off); err != nil || !off {
		t.Errorf("it is on: %v", err)
	}
}
