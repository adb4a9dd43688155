package account_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/account"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// noted are the actions of the log of an account, or with the zero id of the
// instance, that are of log-ins and people, the oldest first, and whether they
// were refused.
func (b bundle) noted(t *testing.T, of gateway.AccountID) string {
	t.Helper()
	return b.text(t, `
		SELECT coalesce(string_agg(action || CASE WHEN refused THEN '!' ELSE '' END, ' ' ORDER BY id), '')
		FROM audit_log
		WHERE coalesce(account_id, '00000000-0000-0000-0000-000000000000') = $1
		  AND split_part(action, '.', 1) IN ('login', 'person')`, of)
}

// What somebody does to their log-in is told once in each of their accounts, and
// nowhere else; of the owner of the instance, and of who has no account, in the
// log of the instance.
func TestLogInsAreNoted(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	ada, bob := b.create(t, "Acme", "ada@example.com"), b.create(t, "Bob's", "bob@example.com")
	second, err := b.Open(t.Context(), bob.UserID, "Second")
	if err != nil {
		t.Fatal(err)
	}
	if noted := b.noted(t, bob.AccountID); noted != "" {
		t.Errorf("before anything: %s", noted)
	}
	first := b.session(t, b.start(t, bob.UserID, account.Device{}, ""))
	other := b.session(t, b.start(t, bob.UserID, account.Device{}, ""))
	b.start(t, bob.UserID, account.Device{}, "")
	var others int64
	for _, do := range []func() error{
		func() error { return b.EndSession(t.Context(), bob.UserID, other.ID) },
		func() error { _, err := b.EndOtherSessions(t.Context(), bob.UserID, first.ID); return err },
		func() (err error) { others, err = b.EndOtherSessions(t.Context(), bob.UserID, first.ID); return err },
		func() error { return b.Rename(t.Context(), bob.UserID, "Bob") },
		func() error { return b.Rename(t.Context(), bob.UserID, "Bob") }, // which it is already
		func() error {
			_, err := b.ChangePassword(t.Context(), first, password, newPassword, account.Device{})
			return err
		},
		func() error { return b.RequestReset(t.Context(), "bob@example.com") },
		func() error { return b.RequestReset(t.Context(), "nobody@example.com") },
		func() error { _, err := b.MakeResetLink(t.Context(), "bob@example.com"); return err },
		func() error { token, _ := b.mailed(t, "bob@example.com"); return b.Reset(t.Context(), token, password) },
	} {
		if err := do(); err != nil {
			t.Fatal(err)
		}
	}
	for _, email := range []string{"bob@example.com", "nobody@example.com"} {
		if err := b.logIn(t, email, "wrong", here); !errors.Is(err, account.ErrWrongCredentials) {
			t.Errorf("%s: %v", email, err)
		}
	}
	if err := b.LogOut(t.Context(), b.session(t, b.start(t, bob.UserID, account.Device{}, ""))); err != nil {
		t.Fatal(err)
	}
	want := "login.start login.start login.start login.end_other login.end_others person.rename login.set_password " +
		"login.ask_reset login.make_reset login.reset login.refuse! login.start login.end"
	for name, of := range map[string]gateway.AccountID{"one account": bob.AccountID, "the other": second.ID} {
		if diff := cmp.Diff(want, b.noted(t, of)); diff != "" || others != 0 {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if noted := b.noted(t, ada.AccountID) + b.noted(t, gateway.AccountID{}); noted != "" {
		t.Errorf("elsewhere: %s", noted)
	}
	b.start(t, ada.UserID, account.Device{}, "") // who owns the instance
	if noted := b.noted(t, ada.AccountID) + "," + b.noted(t, gateway.AccountID{}); noted != "login.start,login.start" {
		t.Errorf("of the owner of the instance: %s", noted)
	}
	b.exec(t, `DELETE FROM members WHERE user_id = $1`, bob.UserID)
	b.start(t, bob.UserID, account.Device{}, "")
	if got := b.noted(t, bob.AccountID) + "," + b.noted(t, gateway.AccountID{}); got != want+",login.start login.start" {
		t.Errorf("of who has no account: %s", got)
	}
}

// A log-in that comes to nothing leaves no entry of one that did.
func TestANoteIsPartOfWhatItTells(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	ada := b.create(t, "Acme", "ada@example.com")
	proven, err := b.LogIn(t.Context(), account.Credentials{Email: "ada@example.com", Password: password, Address: here})
	if err != nil {
		t.Fatal(err)
	}
	b.exec(t, `UPDATE users SET password_hash = 'another' WHERE id = $1`, ada.UserID)
	if _, err := b.StartSession(t.Context(), proven, account.Device{}, ""); !errors.Is(err, account.ErrWrongCredentials) {
		t.Fatalf("a session with a password that was changed: %v", err)
	}
	if noted := b.noted(t, ada.AccountID); noted != "" {
		t.Errorf("noted: %s", noted)
	}
}

// Views and exports are noted, and what the owner does to the instance.
func TestViewsExportsAndTheInstanceAreNoted(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	ada := b.create(t, "Acme", "ada@example.com")
	by := gateway.Actor(ada.UserID.String())
	_, err := b.Invite(t.Context(), ada.UserID, "")
	err = errors.Join(err,
		b.SaveView(t.Context(), ada.AccountID, ada.UserID, "Orders", "type=order"),
		b.DeleteView(t.Context(), ada.AccountID, ada.UserID, "Orders"),
		b.NoteExport(t.Context(), ada.AccountID, by, "usage", "2026-07"),
		b.NoteExport(t.Context(), gateway.AccountID{}, by, "audit_log", "csv"),
		b.NoteConsole(t.Context(), by, "POST /instance/jobs/api/jobs/cancel"),
		b.EndInvitation(t.Context(), ada.UserID, b.invitations(t)[0].ID))
	if err != nil {
		t.Fatal(err)
	}
	if err := b.DeleteView(t.Context(), ada.AccountID, ada.UserID, "Orders"); !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("a second time: %v", err)
	}
	entries, err := b.store.InstanceAudit(t.Context(), store.AuditFilter{}, store.Page[gateway.AuditID]{Limit: 9})
	if err != nil {
		t.Fatal(err)
	}
	own, err := b.store.AuditLog(t.Context(), ada.AccountID, store.AuditFilter{}, store.Page[gateway.AuditID]{Limit: 9})
	if err != nil {
		t.Fatal(err)
	}
	actions := func(entries []gateway.AuditEntry) string {
		var all []string
		for _, e := range entries {
			all = append(all, e.Action)
		}
		return strings.Join(all, " ")
	}
	if got := actions(entries); got != "invitation.end job.console export.audit_log invitation.create" {
		t.Errorf("the instance: %s", got)
	}
	if got := actions(own); !strings.HasPrefix(got, "export.usage view.delete view.save ") {
		t.Errorf("the account: %s", got)
	}
}
