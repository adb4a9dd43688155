package account_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/account"
	"github.com/rowlock/rowlock/internal/gateway"
)

// isLocked tells a refusal for too many tries from others.
func isLocked(err error) bool {
	_, ok := errors.AsType[*account.LockedError](err)
	return ok
}

// fail logs in with a wrong password, so often that the next is refused.
func (b bundle) fail(t *testing.T, email, from string) {
	t.Helper()
	for i := range account.PairTries {
		if err := b.logIn(t, email, "wrong password", from); !errors.Is(err, account.ErrWrongCredentials) {
			t.Fatalf("wrong password %d: %v, want ErrWrongCredentials", i+1, err)
		}
	}
}

// What is wrong with a log-in cannot be told from the answer.
func TestLogInRefusesAllAlike(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.create(t, "Acme", "ada@example.com")
	if _, err := b.Create(t.Context(), account.New{Name: "Bob's", Email: "bob@example.com"}); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]account.Credentials{
		"wrong password":   {Email: "ada@example.com", Password: "wrong password"},
		"other case":       {Email: "ada@example.com", Password: "Correct horse battery"},
		"no password":      {Email: "ada@example.com"},
		"longer":           {Email: "ada@example.com", Password: password + "\x00"},
		"no password set":  {Email: "bob@example.com", Password: password},
		"none set nor had": {Email: "bob@example.com"},
		"unknown":          {Email: "eve@example.com", Password: password},
		"no address":       {Email: "ada", Password: password},
		"nothing":          {},
		"NUL":              {Email: "ada@example.com\x00", Password: "\x00"},
	} {
		c.Address = here
		who, err := b.LogIn(t.Context(), c)
		if err != account.ErrWrongCredentials || !who.User.IsZero() { //nolint:errorlint // the very same error
			t.Errorf("%s: %s, %v; want ErrWrongCredentials itself", name, who.User, err)
		}
	}
}

// A password is compared whether there is somebody or not, so that the time
// does not tell.
func TestLogInHashesForNobody(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.create(t, "Acme", "ada@example.com")
	if _, err := b.Create(t.Context(), account.New{Name: "Bob's", Email: "bob@example.com"}); err != nil {
		t.Fatal(err)
	}
	compared := b.CountComparisons()
	for i, email := range []string{"ada@example.com", "bob@example.com", "eve@example.com", "nobody", ""} {
		if err := b.logIn(t, email, "wrong password", here); !errors.Is(err, account.ErrWrongCredentials) {
			t.Errorf("%q: %v", email, err)
		}
		if n := compared.Load(); n != int64(i+1) {
			t.Errorf("%q: %d comparisons so far, want %d", email, n, i+1)
		}
	}
}

// Too many tries lock one account for one client: another client gets in, and
// the client gets into another account.
func TestLogInLocksAPair(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.create(t, "Acme", "ada@example.com")
	b.create(t, "Bob's", "bob@example.com")
	before := b.clock.Now()
	b.fail(t, "ada@example.com", here)
	for _, email := range []string{"ada@example.com", " ADA@Example.com"} {
		_, err := b.LogIn(t.Context(), account.Credentials{Email: email, Password: password, Address: here})
		locked, ok := errors.AsType[*account.LockedError](err)
		if !ok {
			t.Fatalf("%q: %v, want LockedError", email, err)
		}
		if in := locked.Until.Sub(before); in < 14*time.Minute || in > 16*time.Minute {
			t.Errorf("locked for %s", in)
		}
	}
	for name, tt := range map[string]struct{ email, from string }{
		"another client":  {"ada@example.com", "203.0.113.8"},
		"another account": {"bob@example.com", here},
		"no address":      {"ada@example.com", "unix"},
	} {
		if err := b.logIn(t, tt.email, password, tt.from); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	b.exec(t, `UPDATE tries SET ends_at = now()`)
	if err := b.logIn(t, "ada@example.com", password, here); err != nil {
		t.Errorf("after the window: %v", err)
	}
}

func TestLogInLocksTheUnknownToo(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.fail(t, "eve@example.com", here)
	if err := b.logIn(t, "eve@example.com", password, here); !isLocked(err) {
		t.Errorf("%v, want LockedError", err)
	}
}

// All addresses that a customer has are one client.
func TestClientsOfOneNetwork(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.create(t, "Acme", "ada@example.com")
	b.fail(t, "ada@example.com", "2001:db8:1:2::1")
	for from, locked := range map[string]bool{
		"2001:db8:1:2:ffff::9": true, "2001:db8:1:3::1": false, "::ffff:203.0.113.7": false,
	} {
		if err := b.logIn(t, "ada@example.com", password, from); isLocked(err) != locked {
			t.Errorf("from %s: %v, want locked: %v", from, err, locked)
		}
	}
	b.fail(t, "ada@example.com", here)
	if err := b.logIn(t, "ada@example.com", password, "::ffff:"+here); !isLocked(err) {
		t.Errorf("the same address in IPv6: %v, want LockedError", err)
	}
}

// Success is no try: whoever logs in often is never locked, and what failed
// before is forgotten.
func TestSuccessForgives(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.create(t, "Acme", "ada@example.com")
	for range account.EmailTries + 2 {
		if err := b.logIn(t, "ada@example.com", password, here); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		for range account.PairTries - 1 {
			if err := b.logIn(t, "ada@example.com", "wrong password", here); !errors.Is(err, account.ErrWrongCredentials) {
				t.Fatal(err)
			}
		}
		if err := b.logIn(t, "ada@example.com", password, here); err != nil {
			t.Fatal(err)
		}
	}
}

// However many clients try, one account's password is not tried without end.
func TestLogInLocksAnAccount(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.create(t, "Acme", "ada@example.com")
	clients := account.EmailTries / account.PairTries
	for i := range clients {
		b.fail(t, "ada@example.com", fmt.Sprintf("198.51.100.%d", i))
	}
	if err := b.logIn(t, "ada@example.com", password, here); !isLocked(err) {
		t.Errorf("a new client: %v, want LockedError", err)
	}
	if n := b.text(t, `SELECT count(*)::text FROM tries`); n != fmt.Sprint(clients+1) {
		t.Errorf("%s counters, want none for who was refused", n)
	}
	if err := b.logIn(t, "bob@example.com", password, "198.51.100.1"); !errors.Is(err, account.ErrWrongCredentials) {
		t.Errorf("another account: %v", err)
	}
}

// As many are tried at once as one after the other.
func TestTriesAtOnce(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.create(t, "Acme", "ada@example.com")
	compared := b.CountComparisons()
	errs := atOnce(4*account.PairTries, func(int) error {
		err := b.logIn(t, "ada@example.com", "wrong password", here)
		if isLocked(err) {
			return gateway.ErrRateLimited
		}
		return err
	})
	want := map[error]int{account.ErrWrongCredentials: account.PairTries, gateway.ErrRateLimited: 3 * account.PairTries}
	if diff := cmp.Diff(want, tally(errs)); diff != "" {
		t.Error(diff)
	}
	if n := compared.Load(); n != account.PairTries {
		t.Errorf("%d passwords were compared, want %d", n, account.PairTries)
	}
}
