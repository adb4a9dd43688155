package account_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/account"
	"github.com/rowlock/rowlock/internal/gateway"
)

// Owners alone have an account deleted, and take it back; everybody is told.
func TestClosingAnAccount(t *testing.T) {
	t.Parallel()
	n := newTeam(t, newBundle(t))
	ada := n.joined(t, "ada", gateway.RoleAdmin)
	as := func(user gateway.UserID, name string) account.Person { return account.Person{ID: user, Name: name} }
	if _, err := n.Close(t.Context(), n.Account, as(ada, "Ada")); !errors.Is(err, gateway.ErrOwnerNeeded) {
		t.Errorf("an admin closes it: %v", err)
	}
	at, err := n.Close(t.Context(), n.Account, as(n.owner, "Olga"))
	if err != nil || at.Sub(n.clock.Now().Add(account.CloseGrace)).Abs() > time.Minute {
		t.Fatalf("to be deleted at %s, %v", at, err)
	}
	for _, to := range []string{"owner@example.com", "ada@example.com"} {
		if mails, body := n.mailTo(t, to); mails != 1 || !strings.Contains(body, "Olga has “Acme” deleted") || !strings.Contains(body, at.UTC().Format("2 January 2006, 15:04")) {
			t.Errorf("%d mails to %s: %s", mails, to, body)
		}
	}
	if m, err := n.Member(t.Context(), n.owner, "acme"); err != nil || m.Account.DeleteAt == nil || m.May(gateway.PermOperate) || !m.May(gateway.PermRead) || !m.May(gateway.PermClose) {
		t.Errorf("%+v, %v", m, err)
	}
	if _, err := n.Close(t.Context(), n.Account, as(n.owner, "Olga")); !errors.Is(err, gateway.ErrStateChanged) {
		t.Errorf("a second time: %v", err)
	}
	if err := n.Restore(t.Context(), n.Account, as(ada, "Ada")); !errors.Is(err, gateway.ErrOwnerNeeded) {
		t.Errorf("an admin restores it: %v", err)
	}
	if err := n.Restore(t.Context(), n.Account, as(n.owner, "Olga")); err != nil {
		t.Fatal(err)
	}
	if mails, body := n.mailTo(t, "ada@example.com"); mails != 2 || !strings.Contains(body, "Olga restored “Acme”") {
		t.Errorf("%d mails: %s", mails, body)
	}
	if m, err := n.Member(t.Context(), n.owner, "acme"); err != nil || !m.May(gateway.PermOperate) {
		t.Errorf("%+v, %v", m, err)
	}
	got := n.text(t, `SELECT string_agg(action, ', ' ORDER BY id) FROM audit_log WHERE action IN ('account.close', 'account.restore')`)
	if got != "account.close, account.restore" {
		t.Errorf("audit log: %s", got)
	}
}
