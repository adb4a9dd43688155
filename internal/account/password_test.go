package account_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/account"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/pgtest"
)

const newPassword = "a better one of mine"

func TestChangePassword(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	ada := b.create(t, "Acme", "ada@example.com").UserID
	mine, elsewhere := b.start(t, ada, account.Device{}, ""), b.start(t, ada, account.Device{}, "")
	if err := b.RequestReset(t.Context(), "ada@example.com"); err != nil {
		t.Fatal(err)
	}
	reset, _ := b.mailed(t, "ada@example.com")
	device := account.Device{Address: here, Keep: true}
	if _, err := b.ChangePassword(t.Context(), b.session(t, mine), password, "elevenchars", device); err == nil || !strings.HasPrefix(err.Error(), "password: ") {
		t.Errorf("a short one: %v", err)
	}
	if _, err := b.ChangePassword(t.Context(), b.session(t, mine), "wrong password", newPassword, device); !errors.Is(err, account.ErrWrongCredentials) {
		t.Errorf("the wrong present one: %v, want ErrWrongCredentials", err)
	}
	token, err := b.ChangePassword(t.Context(), b.session(t, mine), password, newPassword, device)
	if err != nil {
		t.Fatal(err)
	}
	if s := b.session(t, token); s.Person.ID != ada || !s.Keep {
		t.Errorf("new session %+v", s)
	}
	b.over(t, "the session before", mine)
	b.over(t, "another session", elsewhere)
	if open, err := b.ResetOpen(t.Context(), reset); open || err != nil {
		t.Errorf("the link of a mail is open: %v, %v", open, err)
	}
	if err := b.logIn(t, "ada@example.com", password, here); !errors.Is(err, account.ErrWrongCredentials) {
		t.Errorf("the old password: %v", err)
	}
	if err := b.logIn(t, "ada@example.com", newPassword, here); err != nil {
		t.Errorf("the new password: %v", err)
	}
	if _, n := b.mailed(t, "ada@example.com"); n != 2 {
		t.Errorf("%d mails, want the link and the notice", n)
	}
}

// Who has stolen a session cannot guess the password by changing it.
func TestChangePasswordIsLimited(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	s := b.session(t, b.start(t, b.create(t, "Acme", "ada@example.com").UserID, account.Device{}, ""))
	b.fail(t, "ada@example.com", here)
	if _, err := b.ChangePassword(t.Context(), s, password, newPassword, account.Device{Address: here}); !isLocked(err) {
		t.Errorf("%v, want LockedError", err)
	}
}

// Of several changes at once one has an effect, and one notice goes out.
func TestPasswordChangesAtOnce(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	s := b.session(t, b.start(t, b.create(t, "Acme", "ada@example.com").UserID, account.Device{}, ""))
	errs := atOnce(4, func(i int) error {
		_, err := b.ChangePassword(t.Context(), s, password, fmt.Sprint(newPassword, i), account.Device{Address: fmt.Sprintf("198.51.100.%d", i)})
		return err
	})
	if diff := cmp.Diff(map[error]int{nil: 1, account.ErrWrongCredentials: 3}, tally(errs, account.ErrWrongCredentials)); diff != "" {
		t.Error(diff)
	}
	if n := b.text(t, `SELECT count(*)::text FROM sessions`); n != "1" {
		t.Errorf("%s sessions, want that of the change", n)
	}
	if _, n := b.mailed(t, "ada@example.com"); n != 1 {
		t.Errorf("%d notices, want 1", n)
	}
}

func TestReset(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	ada := b.create(t, "Acme", "ada@example.com").UserID
	session := b.start(t, ada, account.Device{}, "")
	b.fail(t, "ada@example.com", here)
	for range 2 {
		if err := b.RequestReset(t.Context(), " Ada@example.com"); err != nil {
			t.Fatal(err)
		}
	}
	token, n := b.mailed(t, "ada@example.com")
	if n != 2 || token == "" {
		t.Fatalf("%d mails, token %q", n, token)
	}
	if n := b.text(t, `SELECT count(*)::text FROM river_job WHERE kind = 'mail' AND args->>'mail_id' LIKE 'eml_%'`); n != "2" {
		t.Errorf("%s jobs for 2 mails", n)
	}
	if open, err := b.ResetOpen(t.Context(), token); !open || err != nil {
		t.Errorf("open: %v, %v", open, err)
	}
	if err := b.Reset(t.Context(), token, "elevenchars"); err == nil || !strings.HasPrefix(err.Error(), "password: ") {
		t.Errorf("a short one: %v", err)
	}
	if err := b.Reset(t.Context(), token, newPassword); err != nil {
		t.Fatal(err)
	}
	b.over(t, "the session before", session)
	if err := b.logIn(t, "ada@example.com", newPassword, here); err != nil {
		t.Errorf("the new password, where it was locked: %v", err)
	}
	if err := b.Reset(t.Context(), token, newPassword); !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("a second time: %v, want ErrNotFound", err)
	}
	if n := b.text(t, `SELECT count(*)::text FROM password_resets`); n != "0" {
		t.Errorf("%s links are left", n)
	}
	if _, n := b.mailed(t, "ada@example.com"); n != 3 {
		t.Errorf("%d mails, want two links and the notice", n)
	}
}

// Who holds the database gets a link without a mail, however many were asked
// for. It works once.
func TestMakeResetLink(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.create(t, "Acme", "ada@example.com")
	for range account.ResetTries {
		if err := b.RequestReset(t.Context(), "ada@example.com"); err != nil {
			t.Fatal(err)
		}
	}
	link, err := b.MakeResetLink(t.Context(), " Ada@example.com")
	if err != nil {
		t.Fatal(err)
	}
	if _, n := b.mailed(t, "ada@example.com"); n != account.ResetTries {
		t.Errorf("%d mails, want those that were asked for", n)
	}
	token, ok := strings.CutPrefix(link, baseURL+"/reset/")
	if !ok {
		t.Errorf("the link is %q", link)
	}
	if n := b.text(t, `SELECT count(*)::text FROM password_resets WHERE ends_at - created_at = interval '1 hour'`); n != fmt.Sprint(account.ResetTries+1) {
		t.Errorf("%s links hold for an hour", n)
	}
	if err := b.Reset(t.Context(), token, newPassword); err != nil {
		t.Fatal(err)
	}
	if err := b.logIn(t, "ada@example.com", newPassword, here); err != nil {
		t.Errorf("the new password: %v", err)
	}
	if err := b.Reset(t.Context(), token, newPassword); !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("a second time: %v, want ErrNotFound", err)
	}
	if _, err := b.MakeResetLink(t.Context(), "eve@example.com"); !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("nobody's address: %v, want ErrNotFound", err)
	}
	if _, err := b.MakeResetLink(t.Context(), "nobody"); err == nil || !strings.HasPrefix(err.Error(), "email: ") {
		t.Errorf("no address: %v", err)
	}
}

func TestResetWorksForOneOfMany(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.create(t, "Acme", "ada@example.com")
	if err := b.RequestReset(t.Context(), "ada@example.com"); err != nil {
		t.Fatal(err)
	}
	token, _ := b.mailed(t, "ada@example.com")
	errs := atOnce(6, func(i int) error { return b.Reset(t.Context(), token, fmt.Sprint(newPassword, i)) })
	if diff := cmp.Diff(map[error]int{nil: 1, gateway.ErrNotFound: 5}, tally(errs, gateway.ErrNotFound)); diff != "" {
		t.Error(diff)
	}
}

func TestResetLinksEnd(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.create(t, "Acme", "ada@example.com")
	if err := b.RequestReset(t.Context(), "ada@example.com"); err != nil {
		t.Fatal(err)
	}
	token, _ := b.mailed(t, "ada@example.com")
	if left := b.text(t, `SELECT (ends_at - created_at)::text FROM password_resets`); left != "01:00:00" {
		t.Errorf("it lives for %s", left)
	}
	b.exec(t, `UPDATE password_resets SET ends_at = now()`)
	for _, given := range []string{token, "", "wrong"} {
		if open, err := b.ResetOpen(t.Context(), given); open || err != nil {
			t.Errorf("open: %v, %v", open, err)
		}
		if err := b.Reset(t.Context(), given, newPassword); !errors.Is(err, gateway.ErrNotFound) {
			t.Errorf("%v, want ErrNotFound", err)
		}
	}
}

// The answer does not tell whether somebody has the address, and nobody's
// mailbox is filled, however many ask at once.
func TestRequestReset(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.create(t, "Acme", "ada@example.com")
	errs := atOnce(3*account.ResetTries, func(int) error { return b.RequestReset(t.Context(), "ada@example.com") })
	for range 2 * account.ResetTries {
		errs = append(errs, b.RequestReset(t.Context(), "eve@example.com"))
	}
	for _, err := range errs {
		if err != nil {
			t.Errorf("%v, want the same answer for all", err)
		}
	}
	if _, n := b.mailed(t, "ada@example.com"); n != account.ResetTries {
		t.Errorf("%d mails, want %d", n, account.ResetTries)
	}
	if n := b.text(t, `SELECT string_agg(tries::text, ' ') FROM tries`); n != "3 3" {
		t.Errorf("tries of the known and the unknown: %s", n)
	}
	if n := b.text(t, `SELECT count(*)::text FROM mails`); n != fmt.Sprint(account.ResetTries) {
		t.Errorf("%s mails in all", n)
	}
	if err := b.RequestReset(t.Context(), "nobody"); err == nil || !strings.HasPrefix(err.Error(), "email: ") {
		t.Errorf("no address: %v", err)
	}
	b.exec(t, `UPDATE tries SET ends_at = now()`)
	if err := b.RequestReset(t.Context(), "ada@example.com"); err != nil {
		t.Fatal(err)
	}
	if _, n := b.mailed(t, "ada@example.com"); n != account.ResetTries+1 {
		t.Errorf("%d mails an hour later", n)
	}
}

func TestRename(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	ada := b.create(t, "Acme", "ada@example.com").UserID
	token := b.start(t, ada, account.Device{}, "")
	if err := b.Rename(t.Context(), ada, " Ada Lovelace "); err != nil {
		t.Fatal(err)
	}
	if name := b.session(t, token).Name; name != "Ada Lovelace" {
		t.Errorf("name %q", name)
	}
	if err := b.Rename(t.Context(), ada, "\n"); err == nil || !strings.HasPrefix(err.Error(), "name: ") {
		t.Errorf("no name: %v", err)
	}
	if err := b.Rename(t.Context(), gateway.UserID{}, "Nobody"); !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("nobody: %v", err)
	}
}

// A password's hash costs what it should.
func TestPasswordHash(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	s := account.NewService(account.Options{Store: b.store, Clock: b.clock})
	start := time.Now()
	if _, err := s.Create(t.Context(), account.New{Name: "Acme", Email: "ada@example.com", Password: password}); err != nil {
		t.Fatal(err)
	}
	t.Logf("took %s", time.Since(start))
	if hash := b.text(t, `SELECT password_hash FROM users`); !strings.HasPrefix(hash, "$argon2id$v=19$m=65536,t=2,p=1$") {
		t.Errorf("hash %.40s…", hash)
	}
}

// A link goes to the address that somebody signed up with, and to no other way
// of writing it, which may be another mailbox.
func TestResetGoesToTheStoredAddress(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.create(t, "Acme", "ada@example.com")
	b.exec(t, `UPDATE users SET email = 'Ada@example.com'`)
	if err := b.RequestReset(t.Context(), "ada@example.com"); err != nil {
		t.Fatal(err)
	}
	if _, n := b.mailed(t, "Ada@example.com"); n != 1 {
		t.Errorf("%d mails to the stored address", n)
	}
}

// Of many who log in at once a few are served, some wait, and the rest is told
// at once that it is too much. For these nothing was tried.
func TestHashingIsBounded(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.create(t, "Acme", "ada@example.com")
	b.create(t, "Bob's", "bob@example.com")
	release := b.HoldComparisons()
	var waiting sync.WaitGroup
	for i := range account.MaxHashing + account.MaxWaiting {
		waiting.Go(func() {
			if err := b.logIn(t, fmt.Sprintf("nobody-%d@example.com", i), password, here); !errors.Is(err, account.ErrWrongCredentials) {
				t.Errorf("one who waits: %v", err)
			}
		})
	}
	pgtest.Until(t, "all places are taken", b.HashingIsFull)
	for range 2 * account.PairTries {
		if err := b.logIn(t, "ada@example.com", password, here); !errors.Is(err, gateway.ErrOverloaded) {
			t.Errorf("one too many: %v, want ErrOverloaded", err)
		}
	}
	if _, err := b.SignUp(t.Context(), person("carl")); !errors.Is(err, gateway.ErrOverloaded) {
		t.Errorf("a sign-up: %v, want ErrOverloaded", err)
	}
	release()
	waiting.Wait()
	if err := b.logIn(t, "ada@example.com", password, here); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// Whose session was ended, from another one, while they change the password or
// the address gets no new one, and changes nothing.
func TestNoSessionFollowsOneThatWasEnded(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	ada := b.create(t, "Acme", "ada@example.com").UserID
	stolen := b.session(t, b.start(t, ada, account.Device{}, ""))
	if err := b.RequestEmail(t.Context(), stolen, "new@example.org", password, here); err != nil {
		t.Fatal(err)
	}
	link, _ := b.mailed(t, "new@example.org")
	if err := b.EndSession(t.Context(), ada, stolen.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := b.ChangePassword(t.Context(), stolen, password, newPassword, account.Device{Address: here}); !errors.Is(err, account.ErrSessionOver) {
		t.Errorf("a new password: %v, want ErrSessionOver", err)
	}
	if _, err := b.ChangeEmail(t.Context(), stolen, link, account.Device{Address: here}); !errors.Is(err, account.ErrSessionOver) {
		t.Errorf("another address: %v, want ErrSessionOver", err)
	}
	if err := b.logIn(t, "ada@example.com", password, here); err != nil {
		t.Errorf("log in as before: %v", err)
	}
	if live, err := b.Sessions(t.Context(), ada); err != nil || len(live) != 0 {
		t.Errorf("%d sessions are live, %v", len(live), err)
	}
}
