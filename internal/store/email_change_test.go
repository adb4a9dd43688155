package store_test

import (
	"errors"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// askEmail asks for another address and returns whether somebody has it.
func (b bundle) askEmail(t *testing.T, user gateway.UserID, email string, hash byte, lives time.Duration) (taken bool) {
	t.Helper()
	b.in(t, func(tx store.Tx) (err error) {
		taken, err = tx.AskEmailChange(t.Context(), user, email, [32]byte{hash}, lives)
		return err
	})
	return taken
}

// changeEmail uses a link.
func (b bundle) changeEmail(t *testing.T, user gateway.UserID, hash byte) func(store.Tx, int) error {
	return func(tx store.Tx, _ int) error {
		_, err := tx.ChangeEmail(t.Context(), user, [32]byte{hash})
		return err
	}
}

func TestALinkChangesAnAddressOnce(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	user, other := b.newUser(t, "ada@example.com").ID, b.newUser(t, "bob@example.com").ID
	if b.askEmail(t, user, "ada@example.org", 1, time.Hour) {
		t.Error("the address is taken")
	}
	if email, err := b.EmailChange(t.Context(), user, [32]byte{1}); email != "ada@example.org" || err != nil {
		t.Errorf("the link leads to %q, %v", email, err)
	}
	if _, err := b.EmailChange(t.Context(), other, [32]byte{1}); !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("another person's link: %v", err)
	}
	wantErrors(t, b.atOnce(t.Context(), 1, b.changeEmail(t, other, 1)), 0, gateway.ErrNotFound)
	wantErrors(t, b.atOnce(t.Context(), 5, b.changeEmail(t, user, 1)), 1, gateway.ErrNotFound)
	wantErrors(t, b.atOnce(t.Context(), 1, b.changeEmail(t, user, 1)), 0, gateway.ErrNotFound)
	if found, err := b.LoginByEmail(t.Context(), "ADA@example.org"); found.User != user || err != nil {
		t.Errorf("%+v, %v", found, err)
	}
}

func TestLinksToAddressesEnd(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	user := b.newUser(t, "ada@example.com").ID
	b.askEmail(t, user, "first@example.org", 1, time.Hour)
	b.askEmail(t, user, "second@example.org", 2, 0) // in place of the first, and over
	for _, hash := range []byte{1, 2} {
		wantErrors(t, b.atOnce(t.Context(), 1, b.changeEmail(t, user, hash)), 0, gateway.ErrNotFound)
		if _, err := b.EmailChange(t.Context(), user, [32]byte{hash}); !errors.Is(err, gateway.ErrNotFound) {
			t.Errorf("link %d: %v", hash, err)
		}
	}
	b.askEmail(t, user, "third@example.org", 3, time.Hour)
	b.in(t, func(tx store.Tx) error { return tx.EndEmailChange(t.Context(), user) })
	wantErrors(t, b.atOnce(t.Context(), 1, b.changeEmail(t, user, 3)), 0, gateway.ErrNotFound)
}

// An address belongs to one person, whoever takes it first; the other's link
// stays as it was.
func TestAnAddressIsTakenByOne(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	users := []gateway.UserID{b.newUser(t, "ada@example.com").ID, b.newUser(t, "bob@example.com").ID, b.newUser(t, "eve@example.com").ID}
	for i, user := range users {
		b.askEmail(t, user, "wanted@example.org", byte(i), time.Hour)
	}
	wantErrors(t, b.atOnce(t.Context(), len(users), func(tx store.Tx, i int) error {
		return b.changeEmail(t, users[i], byte(i))(tx, i)
	}), 1, gateway.ErrEmailTaken)
	if !b.askEmail(t, users[0], "WANTED@example.org", 9, time.Hour) {
		t.Error("nobody is said to have the address")
	}
}

// Whoever changes the password ends a link that is used at the same time, or
// comes after it: neither waits for the other in a circle.
func TestALinkAndANewPasswordAtOnce(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	user := b.newUser(t, "ada@example.com").ID
	b.askEmail(t, user, "ada@example.org", 1, time.Hour)
	err := b.whileWaiting(t, func(tx store.Tx) error {
		_, err := tx.ResetPassword(t.Context(), user, "new")
		return err
	}, func(tx store.Tx) error {
		if _, err := tx.ChangeEmail(t.Context(), user, [32]byte{1}); !errors.Is(err, gateway.ErrNotFound) {
			return errors.Join(errors.New("the link was used"), err)
		}
		return nil
	}, func(tx store.Tx) error { return tx.EndEmailChange(t.Context(), user) })
	if err != nil {
		t.Error(err)
	}
}
