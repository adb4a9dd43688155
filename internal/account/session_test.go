package account_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/rowlock/rowlock/internal/account"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/secret"
)

func TestSession(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	ada := b.create(t, "Acme", "ada@example.com")
	bob := b.create(t, "Bob's", "bob@example.com").UserID
	token := b.start(t, ada.UserID, account.Device{Address: here, Agent: "Firefox\x00\n\u202e" + strings.Repeat("ä", 300)}, "")
	s := b.session(t, token)
	want := account.Session{
		ID: s.ID, Address: here, Agent: "Firefox" + strings.Repeat("ä", 146),
		Person: account.Person{ID: ada.UserID, Name: "ada", Email: "ada@example.com", InstanceOwner: true},
	}
	if diff := cmp.Diff(want, s, cmpopts.IgnoreTypes(time.Time{})); diff != "" {
		t.Error(diff)
	}
	if stored := b.text(t, `SELECT encode(hash, 'hex') FROM sessions`); stored == token || len(token) != 52 {
		t.Errorf("token of %d characters", len(token))
	}
	hash := secret.HashToken(token)
	if b.text(t, `SELECT count(*)::text FROM sessions WHERE hash = $1`, hash[:]) != "1" {
		t.Error("the hash is not that of the token")
	}
	if owner := b.session(t, b.start(t, bob, account.Device{}, "")).InstanceOwner; owner {
		t.Error("the second person owns the instance")
	}
	for _, wrong := range []string{"", "x", token + "0", strings.ToUpper(token)} {
		b.over(t, "another token", wrong)
	}
}

// A token that was known before a log-in is of no use after it, whoever it was
// given to.
func TestLogInRenewsTheToken(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	ada, eve := b.create(t, "Acme", "ada@example.com").UserID, b.create(t, "Eve's", "eve@example.com").UserID
	for _, before := range []gateway.UserID{ada, eve} {
		planted := b.start(t, before, account.Device{}, "")
		token := b.start(t, ada, account.Device{}, planted)
		if token == planted {
			t.Error("the token stays the same")
		}
		b.over(t, "the token before", planted)
		if s := b.session(t, token); s.Person.ID != ada {
			t.Errorf("session of %s", s.Person.ID)
		}
	}
	if token := b.start(t, ada, account.Device{}, "made up"); token == "made up" {
		t.Error("a token of the client's making is taken")
	}
}

func TestSessionsSlideAndEnd(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	ada := b.create(t, "Acme", "ada@example.com").UserID
	const day = 24 * time.Hour
	for _, tt := range []struct {
		keep          bool
		idle, longest time.Duration
	}{{false, 12 * time.Hour, 7 * day}, {true, 30 * day, 180 * day}} {
		token := b.start(t, ada, account.Device{Keep: tt.keep}, "")
		s := b.session(t, token)
		wantNear(t, "end", s.EndsAt, b.clock.Now().Add(tt.idle))
		if s.Keep != tt.keep {
			t.Errorf("keep is %v", s.Keep)
		}
		// Used after a while, it slides, and only then.
		b.exec(t, `UPDATE sessions SET seen_at = now() - interval '50 seconds', ends_at = now() + interval '5 seconds' WHERE id = $1`, s.ID)
		wantNear(t, "end within a minute", b.session(t, token).EndsAt, b.clock.Now().Add(5*time.Second))
		b.exec(t, `UPDATE sessions SET seen_at = now() - interval '70 seconds' WHERE id = $1`, s.ID)
		s = b.session(t, token)
		wantNear(t, "end after use", s.EndsAt, b.clock.Now().Add(tt.idle))
		wantNear(t, "seen", s.SeenAt, b.clock.Now())
		// It does not slide past its last day.
		b.exec(t, `UPDATE sessions SET seen_at = now() - interval '2 minutes', ends_at = now() + interval '1 second', last_at = now() + interval '20 minutes' WHERE id = $1`, s.ID)
		wantNear(t, "last end", b.session(t, token).EndsAt, b.clock.Now().Add(20*time.Minute))
		b.exec(t, `UPDATE sessions SET ends_at = now() WHERE id = $1`, s.ID)
		b.over(t, "at its end", token)
	}
}

// wantNear fails unless a time is another, give or take what a test may last.
func wantNear(t *testing.T, what string, got, want time.Time) {
	t.Helper()
	if d := got.Sub(want).Abs(); d > 20*time.Second {
		t.Errorf("%s: %s, want %s", what, got, want)
	}
}

func TestEndSessions(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	ada, eve := b.create(t, "Acme", "ada@example.com").UserID, b.create(t, "Eve's", "eve@example.com").UserID
	var tokens []string
	for range 4 {
		tokens = append(tokens, b.start(t, ada, account.Device{}, ""))
	}
	first, second := b.session(t, tokens[0]), b.session(t, tokens[1])
	foreign := b.start(t, eve, account.Device{}, "")
	if err := b.EndSession(t.Context(), eve, first.ID); !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("another person's: %v, want ErrNotFound", err)
	}
	if err := b.EndSession(t.Context(), ada, first.ID); err != nil {
		t.Fatal(err)
	}
	if err := b.EndSession(t.Context(), ada, first.ID); !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("a second time: %v, want ErrNotFound", err)
	}
	b.over(t, "ended", tokens[0])
	all, err := b.Sessions(t.Context(), ada)
	if err != nil || len(all) != 3 || all[2].ID != second.ID {
		t.Errorf("sessions %v, %v", all, err)
	}
	if n, err := b.EndOtherSessions(t.Context(), ada, second.ID); n != 2 || err != nil {
		t.Errorf("%d others ended, %v", n, err)
	}
	b.over(t, "another", tokens[2])
	b.session(t, tokens[1])
	b.session(t, foreign)
	if n, err := b.EndOtherSessions(t.Context(), ada, gateway.SessionID{}); n != 1 || err != nil {
		t.Errorf("%d of all ended, %v", n, err)
	}
	b.over(t, "the last", tokens[1])
}

func TestAFlashIsShownOnce(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	ada := b.create(t, "Acme", "ada@example.com").UserID
	s := b.session(t, b.start(t, ada, account.Device{}, ""))
	if got, err := b.TakeFlash(t.Context(), s, "/x"); got != nil || err != nil {
		t.Errorf("without a message: %q, %v", got, err)
	}
	for _, message := range []string{"first", "second"} {
		if err := b.SetFlash(t.Context(), s, account.Flash{Message: []byte(message)}); err != nil {
			t.Fatal(err)
		}
	}
	if n := b.text(t, `SELECT count(*)::text FROM sessions WHERE position('second'::bytea IN flash) > 0`); n != "0" {
		t.Error("the message lies open in the database")
	}
	taken := make([][]byte, 6)
	errs := atOnce(len(taken), func(i int) (err error) {
		taken[i], err = b.TakeFlash(t.Context(), s, "/x")
		return err
	})
	shown := 0
	for i, got := range taken {
		if errs[i] != nil {
			t.Error(errs[i])
		}
		if got != nil {
			shown++
			if string(got) != "second" {
				t.Errorf("message %q", got)
			}
		}
	}
	if shown != 1 {
		t.Errorf("shown %d times, want once", shown)
	}
}

// A message opens in its own session alone, and an ended session takes none.
func TestAFlashBelongsToItsSession(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	ada := b.create(t, "Acme", "ada@example.com").UserID
	mine, other := b.session(t, b.start(t, ada, account.Device{}, "")), b.session(t, b.start(t, ada, account.Device{}, ""))
	if err := b.SetFlash(t.Context(), mine, account.Flash{Message: []byte("secret")}); err != nil {
		t.Fatal(err)
	}
	b.exec(t, `UPDATE sessions SET flash = (SELECT flash FROM sessions WHERE id = $1) WHERE id = $2`, mine.ID, other.ID)
	if got, err := b.TakeFlash(t.Context(), other, "/x"); !errors.Is(err, secret.ErrUnsealable) {
		t.Errorf("moved to another session: %q, %v", got, err)
	}
	if err := b.EndSession(t.Context(), ada, mine.ID); err != nil {
		t.Fatal(err)
	}
	if err := b.SetFlash(t.Context(), mine, account.Flash{Message: []byte("late")}); !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("an ended session: %v, want ErrNotFound", err)
	}
}

func TestPrune(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	ada := b.create(t, "Acme", "ada@example.com").UserID
	for _, left := range []string{"1 1 1 0", "0 0 0 0"} {
		if left == "1 1 1 0" {
			b.start(t, ada, account.Device{}, "")
			_ = b.logIn(t, "eve@example.com", "wrong password", here)
			b.exec(t, `DELETE FROM tries WHERE address = ''`)
			if err := b.RequestReset(t.Context(), "ada@example.com"); err != nil {
				t.Fatal(err)
			}
			b.exec(t, `DELETE FROM tries WHERE address = ''`)
			b.exec(t, `INSERT INTO setup_tokens (hash) VALUES ('late')`)
		} else {
			b.exec(t, `UPDATE sessions SET ends_at = now()`)
			b.exec(t, `UPDATE tries SET ends_at = now()`)
			b.exec(t, `UPDATE password_resets SET ends_at = now()`)
		}
		if err := b.Prune(t.Context()); err != nil {
			t.Fatal(err)
		}
		got := b.text(t, `
			SELECT concat_ws(' ', (SELECT count(*) FROM sessions), (SELECT count(*) FROM tries),
			       (SELECT count(*) FROM password_resets), (SELECT count(*) FROM setup_tokens))`)
		if got != left {
			t.Errorf("left are %s, want %s", got, left)
		}
	}
}

// Who has shown a password gets a session as long as it is theirs: not when it
// was changed between the two, however close that was.
func TestAnOldPasswordStartsNoSession(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	ada := b.create(t, "Acme", "ada@example.com").UserID
	credentials := account.Credentials{Email: "ada@example.com", Password: password, Address: here}
	old, err := b.LogIn(t.Context(), credentials)
	if err != nil {
		t.Fatal(err)
	}
	before := b.start(t, ada, account.Device{}, "")
	if err := b.RequestReset(t.Context(), "ada@example.com"); err != nil {
		t.Fatal(err)
	}
	link, _ := b.mailed(t, "ada@example.com")
	errs := atOnce(7, func(i int) error {
		if i == 0 {
			return b.Reset(t.Context(), link, newPassword)
		}
		// Half of them renew a session that the reset ends at the same time.
		_, err := b.StartSession(t.Context(), old, account.Device{}, []string{"", before}[i%2])
		if errors.Is(err, account.ErrWrongCredentials) {
			return nil
		}
		return err
	})
	for _, err := range errs {
		if err != nil {
			t.Error(err)
		}
	}
	for range 2 {
		if token, err := b.StartSession(t.Context(), old, account.Device{}, ""); token != (account.Started{}) || !errors.Is(err, account.ErrWrongCredentials) {
			t.Errorf("%+v, %v; want ErrWrongCredentials", token, err)
		}
	}
	if _, err := b.StartSession(t.Context(), account.Proven{}, account.Device{}, ""); !errors.Is(err, account.ErrWrongCredentials) {
		t.Errorf("nobody: %v", err)
	}
	if n := b.text(t, `SELECT count(*)::text FROM sessions`); n != "0" {
		t.Errorf("%s sessions of a password that is over", n)
	}
	credentials.Password = newPassword
	who, err := b.LogIn(t.Context(), credentials)
	if err != nil {
		t.Fatal(err)
	}
	token, err := b.StartSession(t.Context(), who, account.Device{}, "")
	if err != nil || b.session(t, token.Token).Person.ID != ada {
		t.Errorf("with the new one: %v", err)
	}
}
