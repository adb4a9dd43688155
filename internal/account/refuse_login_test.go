package account_test

import (
	"errors"
	"testing"

	"github.com/rowlock/rowlock/internal/account"
	"github.com/rowlock/rowlock/internal/gateway"
)

// lockedEntries tells what the audit log has of log-ins that were locked: in each
// of somebody's accounts the same.
func (b bundle) lockedEntries(t *testing.T, account gateway.AccountID) string {
	t.Helper()
	return b.text(t, `SELECT coalesce(string_agg(concat_ws(' ', action, detail, address), ', ' ORDER BY id), '') FROM audit_log
		WHERE account_id = $1 AND refused AND detail LIKE '%locked%'`, account)
}

// However often somebody tries while a log-in is locked, the log has that it was
// tried, and once the lock is over how often.
func TestLockedLogInsAreAuditedBounded(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	acme := b.create(t, "Acme", "ada@example.com")
	second, err := b.Open(t.Context(), acme.UserID, "Second")
	if err != nil {
		t.Fatal(err)
	}
	b.fail(t, "ada@example.com", here)
	ctx := gateway.WithOrigin(t.Context(), gateway.NewOrigin(here, "curl/8"))
	try := func(email string) error {
		_, err := b.LogIn(ctx, account.Credentials{Email: email, Password: password, Address: here})
		return err
	}
	for _, err := range atOnce(30, func(int) error { return try("Ada@example.com") }) {
		if !isLocked(err) {
			t.Fatalf("%v, want LockedError", err)
		}
	}
	first := "login.refuse locked after too many wrong tries " + here
	if err := b.TellRefusals(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, id := range []gateway.AccountID{acme.AccountID, second.ID} {
		if got := b.lockedEntries(t, id); got != first {
			t.Errorf("while it is locked: %s", got)
		}
	}
	for range 2 { // a second time there is nothing to tell
		if err := b.TellRefusalsLater(t.Context(), account.PairWindow); err != nil {
			t.Fatal(err)
		}
	}
	for _, id := range []gateway.AccountID{acme.AccountID, second.ID} {
		if got, want := b.lockedEntries(t, id), first+", login.refuse_more 29 more while it was locked "+here; got != want {
			t.Errorf("once the lock is over: %s, want %s", got, want)
		}
	}
	// Nobody's log-in is locked, and told of, alike; there is no log to tell it in.
	before := b.text(t, `SELECT count(*)::text FROM audit_log`)
	b.fail(t, "eve@example.com", here)
	if err := try("eve@example.com"); !isLocked(err) {
		t.Errorf("the unknown: %v", err)
	}
	if after := b.text(t, `SELECT count(*)::text FROM audit_log`); after != before {
		t.Errorf("%s entries, %s before somebody unknown tried", after, before)
	}
}

// So it is with codes after the right password.
func TestLockedCodesAreAuditedBounded(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	of, by, _ := b.secured(t, "Acme", "ada@example.com")
	all, err := b.Accounts(t.Context(), of.Person.ID)
	if err != nil {
		t.Fatal(err)
	}
	half := b.half(t, "ada@example.com", account.Device{})
	for i := range account.CodeTries {
		if _, err := b.enter(t, half, by.code(t, b, 10+i)); !errors.Is(err, account.ErrWrongCode) {
			t.Fatalf("wrong code %d: %v", i+1, err)
		}
	}
	for i := range 5 {
		if _, err := b.enter(t, half, by.code(t, b, 1)); !isLocked(err) {
			t.Fatalf("try %d after too many: %v", i+1, err)
		}
	}
	if err := b.TellRefusalsLater(t.Context(), account.CodeWindow); err != nil {
		t.Fatal(err)
	}
	if got, want := b.lockedEntries(t, all[0].Account.ID), "login.refuse locked after too many wrong tries , login.refuse_more 4 more while it was locked "; got != want {
		t.Errorf("the log has %q, want %q", got, want)
	}
}
