package account_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/rowlock/rowlock/internal/account"
	"github.com/rowlock/rowlock/internal/gateway"
)

// requestEmail asks for another address with the right password.
func (b bundle) requestEmail(t *testing.T, of account.Session, email string) {
	t.Helper()
	if err := b.RequestEmail(t.Context(), of, email, password, here); err != nil {
		t.Fatal(err)
	}
}

func TestChangeEmail(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	ada := b.create(t, "Acme", "ada@example.com").UserID
	of, elsewhere := b.session(t, b.start(t, ada, account.Device{}, "")), b.start(t, ada, account.Device{}, "")
	for email, want := range map[string]error{"ADA@example.com": account.ErrSameEmail, "new@example.org": account.ErrWrongCredentials} {
		if err := b.RequestEmail(t.Context(), of, email, "wrong password", here); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", email, err, want)
		}
	}
	var invalid *gateway.InvalidError
	if err := b.RequestEmail(t.Context(), of, "nobody", password, here); !errors.As(err, &invalid) {
		t.Errorf("no address: %v", err)
	}
	if err := b.RequestReset(t.Context(), "ada@example.com"); err != nil {
		t.Fatal(err)
	}
	reset, _ := b.mailed(t, "ada@example.com")
	b.requestEmail(t, of, "New@Example.org")
	if n, body := b.mailTo(t, "ada@example.com"); n != 2 || !strings.Contains(body, "new@example.org") || strings.Contains(body, "/me/email/") {
		t.Errorf("the former address is told %q", body)
	}
	link, n := b.mailed(t, "new@example.org")
	if email, err := b.EmailAsked(t.Context(), ada, link); n != 1 || email != "new@example.org" || err != nil {
		t.Fatalf("%d mails, a link to %q, %v", n, email, err)
	}
	if err := b.logIn(t, "ada@example.com", password, here); err != nil {
		t.Errorf("with the address until it is changed: %v", err)
	}
	got := tally(atOnce(4, func(int) error {
		token, err := b.ChangeEmail(t.Context(), of, link, account.Device{Address: here})
		if err == nil && b.session(t, token).Email != "new@example.org" {
			t.Error("the session is another person's")
		}
		return err
	}), gateway.ErrNotFound)
	if got[nil] != 1 || got[gateway.ErrNotFound] != 3 {
		t.Errorf("at once: %v", got)
	}
	if _, err := b.ChangeEmail(t.Context(), of, link, account.Device{}); !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("again: %v", err)
	}
	b.over(t, "another session", elsewhere)
	if open, err := b.ResetOpen(t.Context(), reset); open || err != nil {
		t.Errorf("a link in a mail to the former address is open: %v", err)
	}
	if err := b.logIn(t, "ada@example.com", password, here); !errors.Is(err, account.ErrWrongCredentials) {
		t.Errorf("with the former address: %v", err)
	}
	if err := b.logIn(t, "new@example.org", password, here); err != nil {
		t.Errorf("with the new address: %v", err)
	}
	for _, to := range []string{"ada@example.com", "new@example.org"} {
		if _, body := b.mailTo(t, to); !strings.Contains(body, "with new@example.org from now on, and no longer with ada@example.com") {
			t.Errorf("%s is told %q", to, body)
		}
	}
	if got := b.text(t, `SELECT detail FROM audit_log WHERE action = 'login.email'`); got != "ada@example.com to new@example.org" {
		t.Errorf("audited is %q", got)
	}
}

// Nothing tells who has an address: for one that is taken the answer and the mail
// to the former address are the same, and there is no link.
func TestATakenAddressIsNotTold(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	of := b.session(t, b.start(t, b.create(t, "Acme", "ada@example.com").UserID, account.Device{}, ""))
	b.create(t, "Bob's", "bob@example.com")
	b.requestEmail(t, of, "bob@example.com")
	if n, _ := b.mailTo(t, "bob@example.com"); n != 0 {
		t.Errorf("%d mails to who has it", n)
	}
	_, taken := b.mailTo(t, "ada@example.com")
	b.requestEmail(t, of, "free@example.com")
	if _, free := b.mailTo(t, "ada@example.com"); strings.ReplaceAll(free, "free@", "bob@") != taken {
		t.Errorf("%q\nand\n%q", taken, free)
	}
	// It is taken while the link is on its way.
	link, _ := b.mailed(t, "free@example.com")
	b.create(t, "Free", "free@example.com")
	if _, err := b.ChangeEmail(t.Context(), of, link, account.Device{}); !errors.Is(err, gateway.ErrEmailTaken) {
		t.Errorf("taken meanwhile: %v", err)
	}
	if b.text(t, `SELECT email FROM users WHERE id = $1`, of.Person.ID) != "ada@example.com" {
		t.Error("the address was changed")
	}
}

// A mailbox is not filled, and a link ends: with its hour, with a new password,
// and with the next one. It is of no use to anybody else.
func TestLinksToAddressesEnd(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	of := b.session(t, b.start(t, b.create(t, "Acme", "ada@example.com").UserID, account.Device{}, ""))
	eve := b.session(t, b.start(t, b.create(t, "Eve's", "eve@example.com").UserID, account.Device{}, ""))
	useless := func(why string, by account.Session, link string) {
		t.Helper()
		if _, err := b.ChangeEmail(t.Context(), by, link, account.Device{}); !errors.Is(err, gateway.ErrNotFound) {
			t.Errorf("%s: %v, want ErrNotFound", why, err)
		}
	}
	b.requestEmail(t, of, "first@example.org")
	first, _ := b.mailed(t, "first@example.org")
	useless("another person", eve, first)
	b.requestEmail(t, of, "second@example.org")
	useless("replaced", of, first)
	second, _ := b.mailed(t, "second@example.org")
	b.exec(t, `UPDATE email_changes SET ends_at = now()`)
	useless("over", of, second)
	if err := b.Prune(t.Context()); err != nil || b.text(t, `SELECT count(*)::text FROM email_changes`) != "0" {
		t.Errorf("it is kept: %v", err)
	}
	b.requestEmail(t, of, "third@example.org")
	third, _ := b.mailed(t, "third@example.org")
	err := b.RequestEmail(t.Context(), of, "fourth@example.org", password, here)
	if _, tooSoon := errors.AsType[*account.TooSoonError](err); !tooSoon {
		t.Errorf("a fourth within the hour: %v", err)
	}
	if _, err := b.ChangePassword(t.Context(), of, password, newPassword, account.Device{Address: here}); err != nil {
		t.Fatal(err)
	}
	useless("after a new password", of, third)
}

// A changed address asks for no code anew of who is logged in, and leaves
// two-step log-in on.
func TestChangeEmailWithTwoStep(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	of, _, codes := b.secured(t, "Acme", "ada@example.com")
	b.requestEmail(t, of, "new@example.org")
	link, _ := b.mailed(t, "new@example.org")
	token, err := b.ChangeEmail(t.Context(), of, link, account.Device{})
	if err != nil || !b.session(t, token).TwoStep {
		t.Fatalf("%v", err)
	}
	if _, err := b.enter(t, b.half(t, "new@example.org", account.Device{}), codes[0]); err != nil {
		t.Error(err)
	}
}
