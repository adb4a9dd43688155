package account_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/account"
	"github.com/rowlock/rowlock/internal/config"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

func TestMember(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	acme, other := b.create(t, "Acme", "ada@example.com"), b.create(t, "Other", "bob@example.com")
	for _, ref := range []string{acme.AccountID.String(), "acme"} {
		m, err := b.Member(t.Context(), acme.UserID, ref)
		if err != nil || m.Account.ID != acme.AccountID || m.Account.Name != "Acme" || m.Role != gateway.RoleOwner {
			t.Errorf("%s: %+v, %v", ref, m, err)
		}
	}
	for _, ref := range []string{
		other.AccountID.String(), "other", "none", "", "ACME", "acme\x00", "acme\xff", "acme'--",
		strings.ToUpper(acme.AccountID.String()), acme.UserID.String(),
	} {
		if _, err := b.Member(t.Context(), acme.UserID, ref); !errors.Is(err, gateway.ErrNotFound) {
			t.Errorf("%q: %v, want ErrNotFound", ref, err)
		}
	}
}

func TestOpen(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	owner, bob := b.create(t, "Acme", "ada@example.com").UserID, b.create(t, "Bob's", "bob@example.com").UserID
	for mode, allowed := range map[config.Signup]bool{config.SignupOpen: true, config.SignupInvite: true, config.SignupClosed: false} {
		b := b.as(mode)
		made, err := b.Open(t.Context(), owner, " Further ")
		if err != nil || made.Name != "Further" || made.CreatedAt.IsZero() {
			t.Errorf("%s, the owner: %+v, %v", mode, made, err)
		}
		if m, err := b.Member(t.Context(), owner, made.Slug); err != nil || m.Account != made || m.Role != gateway.RoleOwner {
			t.Errorf("%s: %+v, %v", mode, m, err)
		}
		if _, err = b.Open(t.Context(), bob, "Bob's "+string(mode)); allowed && err != nil || !allowed && !errors.Is(err, account.ErrSignupClosed) {
			t.Errorf("%s, another: %v", mode, err)
		}
	}
	if _, err := b.Open(t.Context(), owner, ""); err == nil || !strings.HasPrefix(err.Error(), "name: ") {
		t.Errorf("no name: %v", err)
	}
	all, err := b.Accounts(t.Context(), bob)
	if err != nil || len(all) != 3 || all[0].Account.Name != "Bob's" || all[1].Account.Name != "Bob's invite" {
		t.Errorf("accounts %+v, %v", all, err)
	}
	if got := b.rows(t); got != "2 7 7 7 2 1" {
		t.Errorf("rows: %s; want a source for each account", got)
	}
	if none, err := b.Accounts(t.Context(), gateway.UserID{}); err != nil || len(none) != 0 {
		t.Errorf("accounts of nobody: %v, %v", none, err)
	}
}

func TestVisit(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	acme, other := b.create(t, "Acme", "ada@example.com"), b.create(t, "Other", "bob@example.com")
	token := b.start(t, acme.UserID, account.Device{}, "")
	for _, visited := range []gateway.AccountID{acme.AccountID, acme.AccountID, other.AccountID} {
		if err := b.Visit(t.Context(), acme.UserID, visited); err != nil {
			t.Fatal(err)
		}
		if last := b.session(t, token).LastAccount; last == nil || *last != acme.AccountID {
			t.Errorf("last account %v, want that of which she is a member", last)
		}
	}
}

func TestRenameAccount(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	acme := b.create(t, "Acme", "ada@example.com")
	actor := gateway.Actor(acme.UserID.String())
	for range 2 {
		if err := b.RenameAccount(t.Context(), acme.AccountID, actor, " Acme, Inc. "); err != nil {
			t.Fatal(err)
		}
	}
	if m, err := b.Member(t.Context(), acme.UserID, "acme"); err != nil || m.Account.Name != "Acme, Inc." {
		t.Errorf("%+v, %v", m, err)
	}
	if log := b.text(t, `SELECT string_agg(concat_ws(' ', actor, object, detail), '; ') FROM audit_log WHERE action = 'account.rename'`); log != fmt.Sprintf("%s %s Acme, Inc.", actor, acme.AccountID) {
		t.Errorf("audit log: %s", log)
	}
	if err := b.RenameAccount(t.Context(), acme.AccountID, actor, "\x00"); err == nil || !strings.HasPrefix(err.Error(), "name: ") {
		t.Errorf("no name: %v", err)
	}
}

func TestInstanceAccounts(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	page := store.Page[gateway.AccountID]{Limit: 2}
	if none, err := b.InstanceAccounts(t.Context(), page); err != nil || len(none) != 0 {
		t.Errorf("%v, %v", none, err)
	}
	acme := b.create(t, "Acme", "ada@example.com").AccountID
	for _, name := range []string{"B", "C"} {
		b.create(t, name, name+"@example.com")
	}
	b.exec(t, `INSERT INTO endpoints (id, account_id, url, description, event_types, headers, max_in_flight, stop_on, deleted_at)
		SELECT gen_random_uuid(), $1, 'https://example.com', '', '{}', '', 1, '{}', CASE WHEN n = 3 THEN now() END FROM generate_series(1, 3) n`, acme)
	first, err := b.InstanceAccounts(t.Context(), page)
	if err != nil || len(first) != 2 || first[0].Name != "C" || first[0].Members != 1 || first[0].Endpoints != 0 {
		t.Fatalf("%+v, %v", first, err)
	}
	page.Before = &first[1].ID
	rest, err := b.InstanceAccounts(t.Context(), page)
	if err != nil || len(rest) != 1 || rest[0].ID != acme || rest[0].Endpoints != 2 || rest[0].Slug != "acme" {
		t.Errorf("%+v, %v", rest, err)
	}
	if diff := cmp.Diff(int64(0), rest[0].Events); diff != "" {
		t.Error(diff)
	}
}

// What a member may not do is in the audit log, once a try.
func TestRefusedTriesAreAudited(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	made := b.create(t, "Acme", "ada@example.com")
	refused := account.Refused{
		Account: made.AccountID, Actor: gateway.Actor(made.UserID.String()), Method: http.MethodPost, What: "/sources/new",
	}
	for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodPost} { // looks count, too
		refused.Method = method
		if err := b.Refuse(t.Context(), refused); err != nil {
			t.Fatal(err)
		}
	}
	refused.Method, refused.What = http.MethodDelete, "/api/v1/sources/{id}"
	if err := b.Refuse(t.Context(), refused); err != nil {
		t.Fatal(err)
	}
	got := b.text(t, `SELECT string_agg(concat_ws(' ', actor, action, object, detail), ',' ORDER BY id) FROM audit_log WHERE action = 'account.refuse'`)
	line := fmt.Sprintf("%s account.refuse %s /sources/new", made.UserID, made.AccountID)
	if want := line + "," + strings.Replace(line, "/sources", "get /sources", 1) + "," + line + "," + strings.Replace(line, "/sources/new", "delete /api/v1/sources/{id}", 1); got != want {
		t.Errorf("audit log: %s", got)
	}
}
