package store_test

import (
	"errors"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// newUser stores a person.
func (b bundle) newUser(t *testing.T, email string) store.User {
	t.Helper()
	user := b.user(email)
	b.in(t, func(tx store.Tx) error { return tx.CreateUser(t.Context(), user, "hash") })
	return user
}

// newSession stores a session of a person by a token's hash.
func (b bundle) newSession(t *testing.T, user gateway.UserID, hash [32]byte) gateway.SessionID {
	t.Helper()
	id := gateway.SessionID(b.clock.NewID())
	b.in(t, func(tx store.Tx) error {
		made, err := tx.CreateSession(t.Context(), store.NewSession{
			ID: id, User: user, PasswordHash: "hash", Hash: hash, Idle: time.Hour, Longest: 2 * time.Hour,
		})
		if err == nil && !made {
			err = errors.New("no session")
		}
		return err
	})
	return id
}

// Who takes a message while another takes it waits, and finds it gone.
func TestTakeFlashWaits(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	user := b.newUser(t, "ada@example.com").ID
	id := b.newSession(t, user, [32]byte{1})
	if err := b.SetFlash(t.Context(), user, id, store.Flash{Message: []byte("message")}); err != nil {
		t.Fatal(err)
	}
	first, err := b.pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer first.Rollback(t.Context()) //nolint:errcheck // after the commit it does nothing
	if _, err := first.Exec(t.Context(), `UPDATE sessions SET flash = NULL`); err != nil {
		t.Fatal(err)
	}
	taken, failed := make(chan []byte, 1), make(chan error, 1)
	go func() {
		message, err := b.TakeFlash(t.Context(), user, id, "/")
		taken <- message
		failed <- err
	}()
	if err := errors.Join(b.someoneWaits(t.Context()), first.Commit(t.Context())); err != nil {
		t.Fatal(err)
	}
	if message, err := <-taken, <-failed; message != nil || err != nil {
		t.Errorf("the second takes %q, %v", message, err)
	}
}

// Of many requests of a session at once, one notes that it is used.
func TestTouchSessionOnce(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	id := b.newSession(t, b.newUser(t, "ada@example.com").ID, [32]byte{1})
	b.exec(t, 1, `UPDATE sessions SET seen_at = now() - interval '2 minutes'`)
	touches := make(chan bool, poolSize)
	errs := b.atOnce(t.Context(), poolSize/2, func(store.Tx, int) error {
		_, _, touched, err := b.TouchSession(t.Context(), id, time.Minute)
		touches <- touched
		return err
	})
	wantErrors(t, errs, poolSize/2, nil)
	close(touches)
	n := 0
	for touched := range touches {
		if touched {
			n++
		}
	}
	if n != 1 {
		t.Errorf("touched %d times, want once", n)
	}
	b.exec(t, 1, `UPDATE sessions SET seen_at = now() - interval '2 minutes', ends_at = now()`)
	if _, _, touched, err := b.TouchSession(t.Context(), id, time.Minute); touched || err != nil {
		t.Errorf("an ended session: %v, %v", touched, err)
	}
}

func TestSessionWithoutSealer(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	user := b.newUser(t, "ada@example.com").ID
	id := b.newSession(t, user, [32]byte{1})
	blind, err := store.New(b.pool, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := blind.SetFlash(t.Context(), user, id, store.Flash{}); err == nil {
		t.Error("a message was kept unsealed")
	}
	err = blind.InTx(t.Context(), func(tx store.Tx) error { return tx.AddMail(t.Context(), store.Mail{Body: "x"}, true) })
	if err == nil || b.count(t, `SELECT count(*) FROM mails`) != 0 {
		t.Errorf("a mail was kept unsealed: %v", err)
	}
}

// A password that is changed while a session begins lets nobody in: either the
// session waits for the change, and finds another password, or the change waits
// for the session, and ends it.
func TestASessionNamesThePassword(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	user := b.newUser(t, "ada@example.com").ID
	begin := func(tx store.Tx, passwordHash string) error {
		made, err := tx.CreateSession(t.Context(), store.NewSession{
			ID: gateway.SessionID(b.clock.NewID()), User: user, PasswordHash: passwordHash, Hash: b.newHash(), Idle: time.Hour, Longest: time.Hour,
		})
		if err == nil && !made {
			err = gateway.ErrNotFound
		}
		return err
	}
	reset := func(to string) func(store.Tx) error {
		return func(tx store.Tx) error {
			if _, err := tx.ResetPassword(t.Context(), user, to); err != nil {
				return err
			}
			_, err := tx.EndSessions(t.Context(), user, gateway.SessionID{})
			return err
		}
	}
	nothing := func(store.Tx) error { return nil }
	err := b.whileWaiting(t, reset("second"), func(tx store.Tx) error { return begin(tx, "hash") }, nothing)
	if !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("during the change: %v, want ErrNotFound", err)
	}
	err = b.whileWaiting(t, func(tx store.Tx) error { return begin(tx, "second") }, reset("third"), nothing)
	if err != nil {
		t.Errorf("the change: %v", err)
	}
	for range 2 {
		errs := b.atOnce(t.Context(), 1, func(tx store.Tx, _ int) error { return begin(tx, "second") })
		wantErrors(t, errs, 0, gateway.ErrNotFound)
	}
	if n := b.count(t, `SELECT count(*) FROM sessions`); n != 0 {
		t.Errorf("%d sessions of passwords that are over", n)
	}
}

// newHash is one of no other token.
func (b bundle) newHash() (hash [32]byte) {
	id := b.clock.NewID()
	copy(hash[:], id[:])
	return hash
}

// A message for one page is left where it is by every other.
func TestAFlashWaitsForItsPage(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	user := b.newUser(t, "ada@example.com").ID
	id := b.newSession(t, user, [32]byte{1})
	if err := b.SetFlash(t.Context(), user, id, store.Flash{Page: "/a/acme/settings/keys", Message: []byte("key")}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct{ page, message string }{
		{"", ""}, {"/", ""}, {"/a/acme/settings", ""}, {"/a/acme/settings/keys", "key"}, {"/a/acme/settings/keys", ""},
	} {
		if got, err := b.TakeFlash(t.Context(), user, id, want.page); string(got) != want.message || err != nil {
			t.Errorf("%q takes %q, %v; want %q", want.page, got, err, want.message)
		}
	}
}
