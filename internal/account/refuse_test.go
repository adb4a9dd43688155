package account_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/account"
	"github.com/rowlock/rowlock/internal/gateway"
)

// Refusals of one who tries often are noted one by one up to a bound, and told as
// a number once their minute is over; nobody else's are lost among them.
func TestRefusalsAreBounded(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	acme := b.create(t, "Acme", "ada@example.com")
	ctx := gateway.WithOrigin(t.Context(), gateway.NewOrigin("203.0.113.7", "curl/8\x00\xff"))
	key, object := gateway.Actor(gateway.KeyID(b.clock.NewID()).String()), gateway.EndpointID(b.clock.NewID()).String()
	loud := account.Refused{Account: acme.AccountID, Actor: key, Method: http.MethodDelete, What: "/x/:id", Object: object}
	for _, err := range atOnce(25, func(int) error { return b.Refuse(ctx, loud) }) {
		if err != nil {
			t.Fatal(err)
		}
	}
	quiet := loud
	quiet.Actor, quiet.Method, quiet.Object = gateway.Actor(acme.UserID.String()), http.MethodGet, "key\x00_06h1m3v9c8x7k2q5n4t6w8y0za"
	if err := errors.Join(b.Refuse(t.Context(), quiet), b.TellRefusals(t.Context())); err != nil {
		t.Fatal(err)
	}
	noted := func(actor gateway.Actor, action, rest string) string {
		return b.text(t, `SELECT count(*)::text FROM audit_log WHERE refused AND actor = $1 AND action = $2 AND concat_ws(' ', object, detail, address, agent) = $3`, actor, action, rest)
	}
	if n := noted(key, account.ActionRefused, object+" delete /x/:id 203.0.113.7 curl/8"); n != "10" {
		t.Errorf("%s of the loud one are noted, want 10", n)
	}
	if n := noted(quiet.Actor, account.ActionRefused, acme.AccountID.String()+" get /x/:id  "); n != "1" {
		t.Errorf("%s of the quiet one are noted, want 1", n)
	}
	more := acme.AccountID.String() + " 15 more within a minute 203.0.113.7 curl/8"
	if n := noted(key, account.ActionRefusedMore, more); n != "0" {
		t.Errorf("the number is told %s times while it grows", n)
	}
	for range 2 { // a second time there is nothing to tell
		if err := b.TellRefusalsLater(t.Context(), time.Minute); err != nil {
			t.Fatal(err)
		}
	}
	if n := noted(key, account.ActionRefusedMore, more); n != "1" {
		t.Errorf("the number is told %s times, want once", n)
	}
}

// An admin who tries what is for owners is noted, and so is who tries the pages
// of the instance, in its own log.
func TestWhatIsForOwnersIsNoted(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	acme, by := b.create(t, "Acme", "ada@example.com"), gateway.Actor(gateway.KeyID(b.clock.NewID()).String())
	of := gateway.Account{ID: acme.AccountID, Name: "Acme"}
	invited, _, err := b.InviteMember(t.Context(), of, gateway.Actor(acme.UserID.String()), account.NewMember{Role: gateway.RoleOwner})
	if err != nil {
		t.Fatal(err)
	}
	_, _, inviteErr := b.InviteMember(t.Context(), of, by, account.NewMember{Role: gateway.RoleOwner})
	_, _, againErr := b.RenewInvitation(t.Context(), of, by, invited.ID)
	for what, err := range map[string]error{
		"member.role " + acme.UserID.String():             b.SetRole(t.Context(), acme.AccountID, by, acme.UserID, gateway.RoleViewer),
		"member.remove " + acme.UserID.String():           b.Remove(t.Context(), of, by, acme.UserID),
		"member.invite " + acme.AccountID.String():        inviteErr,
		"member.invite_again " + invited.ID.String():      againErr,
		"member.revoke_invitation " + invited.ID.String(): b.RevokeInvitation(t.Context(), acme.AccountID, by, invited.ID),
	} {
		if !errors.Is(err, gateway.ErrOwnerNeeded) {
			t.Errorf("%s: %v", what, err)
		}
		action, object, _ := strings.Cut(what, " ")
		if n := b.text(t, `SELECT count(*)::text FROM audit_log WHERE refused AND account_id = $1 AND actor = $2 AND detail = $3 AND object = $4`,
			acme.AccountID, string(by), action+" for owners", object); n != "1" {
			t.Errorf("%s is noted %s times", what, n)
		}
	}
	if err := b.Refuse(t.Context(), account.Refused{Actor: by, Method: http.MethodGet, What: "/instance/mail"}); err != nil {
		t.Fatal(err)
	}
	if n := b.text(t, `SELECT count(*)::text FROM audit_log WHERE refused AND account_id IS NULL AND object = 'instance' AND detail = 'get /instance/mail'`); n != "1" {
		t.Errorf("of the instance %s are noted", n)
	}
}

// A key is refused once it has ended, and from where it may not be used; both
// are noted, and so is when and from where it was used last.
func TestKeysAreRefused(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	acme := b.create(t, "Acme", "ada@example.com")
	at := func(address string) func(string) error {
		return func(text string) error {
			_, err := b.Authenticate(gateway.WithOrigin(t.Context(), gateway.NewOrigin(address, "")), text)
			return err
		}
	}
	fenced, text, err := b.CreateKey(t.Context(), acme.AccountID, "usr", account.NewKey{
		Name: "ci", Scopes: gateway.Scopes, Networks: []string{"203.0.113.0/24", "2001:db8::1"},
	})
	if err != nil {
		t.Fatal(err)
	}
	for address, want := range map[string]error{
		"203.0.113.7": nil, "::ffff:203.0.113.7": nil, "2001:db8::1": nil,
		"203.0.114.7": account.ErrKeyNetwork, "2001:db8::2": account.ErrKeyNetwork, "": account.ErrKeyNetwork, "x": account.ErrKeyNetwork,
	} {
		if err := at(address)(text); !errors.Is(err, want) {
			t.Errorf("from %q: %v, want %v", address, err, want)
		}
	}
	if used, err := b.Key(t.Context(), acme.AccountID, fenced.ID); err != nil || used.LastUsedAt == nil || used.LastUsedFrom == nil {
		t.Errorf("it was never used: %+v, %v", used, err)
	}
	if err := b.EndKey(t.Context(), acme.AccountID, "usr", fenced.ID); err != nil {
		t.Fatal(err)
	}
	if err := at("203.0.113.7")(text); !errors.Is(err, account.ErrKeyEnded) || !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("an ended key: %v", err)
	}
	for detail, want := range map[string]string{"it has ended": "1", "not allowed from this address": "4"} {
		if n := b.text(t, `SELECT count(*)::text FROM audit_log WHERE action = 'key.refuse' AND refused AND object = $1 AND actor = $1 AND detail = $2`, fenced.ID.String(), detail); n != want {
			t.Errorf("%q is noted %s times, want %s", detail, n, want)
		}
	}
	for _, wrong := range [][]string{{"x"}, {"203.0.113.0/33"}, make([]string, 101)} {
		_, _, err := b.CreateKey(t.Context(), acme.AccountID, "usr", account.NewKey{Name: "x", Scopes: gateway.Scopes, Networks: wrong})
		if invalid, ok := errors.AsType[*gateway.InvalidError](err); !ok || invalid.Field != "allowed_ips" {
			t.Errorf("%v: %v", wrong, err)
		}
	}
}
