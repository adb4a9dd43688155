package account_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/account"
	"github.com/rowlock/rowlock/internal/config"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// team is an account, its owner, and how it is called.
type team struct {
	bundle
	gateway.Account

	owner gateway.UserID
}

func newTeam(t *testing.T, b bundle) team {
	t.Helper()
	made := b.create(t, "Acme", "owner@example.com")
	a, err := b.store.Account(t.Context(), made.AccountID)
	if err != nil {
		t.Fatal(err)
	}
	return team{b, a, made.UserID}
}

func actor(user gateway.UserID) gateway.Actor { return gateway.Actor(user.String()) }

// ask invites somebody, by the owner, and returns the token.
func (n team) ask(t *testing.T, email string, role gateway.Role) string {
	t.Helper()
	_, token, err := n.InviteMember(t.Context(), n.Account, actor(n.owner), account.NewMember{Email: email, Role: role})
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func TestJoiningAsSomebodyNew(t *testing.T) {
	t.Parallel()
	n := newTeam(t, newBundle(t))
	token := n.ask(t, "Ada@Example.com", gateway.RoleOperator)
	if mails, body := n.mailTo(t, "ada@example.com"); mails != 1 || !strings.Contains(body, token) || !strings.Contains(body, "“Acme”") || !strings.Contains(body, "an operator") {
		t.Errorf("%d mails: %s", mails, body)
	}
	if _, err := n.JoinAsNew(t.Context(), token, person("bob")); !errors.Is(err, account.ErrInvitationSpent) {
		t.Errorf("with another address: %v", err)
	}
	if _, err := n.JoinAsNew(t.Context(), token, account.SignUp{Email: "ada@example.com", Password: "short"}); err == nil || !strings.Contains(err.Error(), "name: ") || !strings.Contains(err.Error(), "password: ") {
		t.Errorf("with nothing of use: %v", err)
	}
	who, err := n.JoinAsNew(t.Context(), token, person("ada"))
	if err != nil {
		t.Fatal(err)
	}
	all, err := n.Accounts(t.Context(), who.User)
	if err != nil || len(all) != 1 || all[0].Account.ID != n.ID || all[0].Role != gateway.RoleOperator {
		t.Errorf("a member of %+v, %v", all, err)
	}
	if err := n.logIn(t, "ada@example.com", password, here); err != nil {
		t.Errorf("log in: %v", err)
	}
	if _, err := n.JoinAsNew(t.Context(), token, person("ada")); !errors.Is(err, account.ErrInvitationSpent) {
		t.Errorf("a second time: %v", err)
	}
	got := n.text(t, `SELECT string_agg(concat_ws(' ', action, detail), ', ' ORDER BY id) FROM audit_log WHERE action LIKE 'member.%'`)
	if want := "member.invite ada@example.com: operator, member.join ada@example.com: operator"; got != want {
		t.Errorf("audit log: %s", got)
	}
}

// Many who follow one link at once: one is let in, and of the others nothing is
// left.
func TestJoiningAtOnceAsSomebodyNew(t *testing.T) {
	t.Parallel()
	n := newTeam(t, newBundle(t))
	token := n.ask(t, "", gateway.RoleViewer)
	errs := atOnce(4, func(i int) error {
		_, err := n.JoinAsNew(t.Context(), token, person(fmt.Sprintf("ada%d", i)))
		return err
	})
	if diff := cmp.Diff(map[error]int{nil: 1, account.ErrInvitationSpent: 3}, tally(errs, account.ErrInvitationSpent)); diff != "" {
		t.Error(diff)
	}
	if got := n.text(t, `SELECT (SELECT count(*) FROM users) || ' ' || (SELECT count(*) FROM members)`); got != "2 2" {
		t.Errorf("%s people and members, want the owner and one", got)
	}
}

// Who has a log-in joins with it, also where nobody can sign up.
func TestJoiningWithALogIn(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	n := newTeam(t, b)
	ada := b.create(t, "Other", "ada@example.com").UserID
	as := account.Person{ID: ada, Email: "ada@example.com", Name: "Ada"}
	named, free := n.ask(t, "bob@example.com", gateway.RoleAdmin), n.ask(t, "", gateway.RoleAdmin)
	closed := b.as(config.SignupClosed)
	if _, err := closed.Join(t.Context(), named, as); !errors.Is(err, account.ErrInvitationSpent) {
		t.Errorf("another's: %v", err)
	}
	if _, err := closed.JoinAsNew(t.Context(), free, person("eve")); !errors.Is(err, account.ErrSignupClosed) {
		t.Errorf("somebody new, while sign-up is closed: %v", err)
	}
	if into, err := closed.Join(t.Context(), free, as); err != nil || into != n.ID {
		t.Errorf("%s, %v", into, err)
	}
	again := n.ask(t, "", gateway.RoleViewer)
	if _, err := closed.Join(t.Context(), again, as); !errors.Is(err, gateway.ErrMember) {
		t.Errorf("a member: %v", err)
	}
	if i, err := b.InvitationByToken(t.Context(), again); err != nil || account.StateOf(i, b.clock.Now()) != account.InvitationWaits {
		t.Errorf("the invitation that a member tried is %+v, %v", i, err)
	}
	if m, err := b.Member(t.Context(), ada, "acme"); err != nil || m.Role != gateway.RoleAdmin {
		t.Errorf("%+v, %v", m, err)
	}
}

func TestInvitationsThatChange(t *testing.T) {
	t.Parallel()
	n := newTeam(t, newBundle(t))
	token := n.ask(t, "ada@example.com", gateway.RoleViewer)
	i, err := n.InvitationByToken(t.Context(), token)
	if err != nil || i.AccountName != "Acme" || *i.CreatedBy != n.owner {
		t.Fatalf("%+v, %v", i, err)
	}
	_, newer, err := n.RenewInvitation(t.Context(), n.Account, actor(n.owner), i.ID)
	if err != nil {
		t.Fatal(err)
	}
	if mails, body := n.mailTo(t, "ada@example.com"); mails != 2 || !strings.Contains(body, baseURL+"/invite/"+newer+"\n") {
		t.Errorf("%d mails: %s", mails, body)
	}
	if _, err := n.InvitationByToken(t.Context(), token); !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("the former link: %v", err)
	}
	if err := n.RevokeInvitation(t.Context(), n.ID, actor(n.owner), i.ID); err != nil {
		t.Fatal(err)
	}
	token = newer
	if i, err = n.InvitationByToken(t.Context(), token); err != nil || account.StateOf(i, n.clock.Now()) != account.InvitationRevoked {
		t.Errorf("%+v, %v", i, err)
	}
	if _, err := n.JoinAsNew(t.Context(), token, person("ada")); !errors.Is(err, account.ErrInvitationSpent) {
		t.Errorf("a revoked one: %v", err)
	}
	for name, bad := range map[string]account.NewMember{"no role": {}, "no such role": {Role: "manager"}, "no address": {Email: "x", Role: gateway.RoleViewer}} {
		if _, _, err := n.InviteMember(t.Context(), n.Account, actor(n.owner), bad); err == nil {
			t.Errorf("%s was invited", name)
		}
	}
}

func TestMembersCome(t *testing.T) {
	t.Parallel()
	n := newTeam(t, newBundle(t))
	ada := n.joined(t, "ada", gateway.RoleOperator)
	if err := n.SetRole(t.Context(), n.ID, actor(n.owner), ada, "boss"); err == nil {
		t.Error("there is a boss")
	}
	for range 2 { // the second changes nothing
		if err := n.SetRole(t.Context(), n.ID, actor(n.owner), ada, gateway.RoleAdmin); err != nil {
			t.Fatal(err)
		}
	}
	if err := n.Remove(t.Context(), n.Account, actor(n.owner), ada); err != nil {
		t.Fatal(err)
	}
	if mails, body := n.mailTo(t, "ada@example.com"); mails != 1 || !strings.Contains(body, "no member of “Acme”") {
		t.Errorf("%d mails: %s", mails, body)
	}
	if err := n.Remove(t.Context(), n.Account, actor(n.owner), ada); !errors.Is(err, gateway.ErrNotFound) {
		t.Errorf("removed twice: %v", err)
	}
	bob := n.joined(t, "bob", gateway.RoleViewer)
	if err := n.Remove(t.Context(), n.Account, actor(bob), bob); err != nil {
		t.Fatal(err)
	}
	if mails, _ := n.mailTo(t, "bob@example.com"); mails != 0 {
		t.Error("who leaves is written to")
	}
	got := n.text(t, `SELECT string_agg(concat_ws(' ', action, detail), ', ' ORDER BY id) FROM audit_log WHERE action IN ('member.role', 'member.remove', 'member.leave')`)
	if want := "member.role ada@example.com: admin, member.remove ada@example.com, member.leave bob@example.com"; got != want {
		t.Errorf("audit log: %s", got)
	}
}

// joined is somebody new who has joined by a link.
func (n team) joined(t *testing.T, name string, role gateway.Role) gateway.UserID {
	t.Helper()
	who, err := n.JoinAsNew(t.Context(), n.ask(t, "", role), person(name))
	if err != nil {
		t.Fatal(err)
	}
	return who.User
}

// Only who knows the password hands an account over.
func TestHandingOverAsksForThePassword(t *testing.T) {
	t.Parallel()
	n := newTeam(t, newBundle(t))
	ada := n.joined(t, "ada", gateway.RoleViewer)
	session := n.session(t, n.start(t, n.owner, account.Device{}, ""))
	for _, wrong := range []string{"", "wrong password"} {
		if err := n.HandOver(t.Context(), n.Account, session, wrong, here, ada); !errors.Is(err, account.ErrWrongCredentials) {
			t.Errorf("with %q: %v", wrong, err)
		}
	}
	if err := n.HandOver(t.Context(), n.Account, session, password, here, n.owner); !errors.Is(err, gateway.ErrStateChanged) {
		t.Errorf("to oneself: %v", err)
	}
	if err := n.HandOver(t.Context(), n.Account, session, password, here, ada); err != nil {
		t.Fatal(err)
	}
	if mails, body := n.mailTo(t, "ada@example.com"); mails != 1 || !strings.Contains(body, "/a/acme/settings/members") {
		t.Errorf("%d mails: %s", mails, body)
	}
	for user, want := range map[gateway.UserID]gateway.Role{ada: gateway.RoleOwner, n.owner: gateway.RoleAdmin} {
		if m, err := n.MemberByID(t.Context(), n.ID, user); err != nil || m.Role != want {
			t.Errorf("%+v, %v; want %s", m, err, want)
		}
	}
	if err := n.HandOver(t.Context(), n.Account, session, password, here, ada); !errors.Is(err, gateway.ErrOwnerNeeded) {
		t.Errorf("by who is no owner any more: %v", err)
	}
	people, err := n.Members(t.Context(), n.ID, store.Page[gateway.UserID]{Limit: 9})
	if err != nil || len(people) != 2 || people[0].ID != ada {
		t.Errorf("%+v, %v", people, err)
	}
}

// invitedBy is an invitation that a member makes, for whoever has the link.
func (n team) invitedBy(t *testing.T, by gateway.UserID, role gateway.Role) (gateway.InvitationID, string) {
	t.Helper()
	i, token, err := n.InviteMember(t.Context(), n.Account, actor(by), account.NewMember{Role: role})
	if err != nil {
		t.Fatal(err)
	}
	return i.ID, token
}

// Who is removed, leaves, or may not invite any more has no link left that lets
// them, or anybody, in; what somebody else has sent once more is theirs.
func TestInvitationsEndWithWhoInvited(t *testing.T) {
	t.Parallel()
	n := newTeam(t, newBundle(t))
	for name, end := range map[string]func(gateway.UserID) error{
		"removed": func(who gateway.UserID) error { return n.Remove(t.Context(), n.Account, actor(n.owner), who) },
		"left":    func(who gateway.UserID) error { return n.Remove(t.Context(), n.Account, actor(who), who) },
		"demoted": func(who gateway.UserID) error {
			return n.SetRole(t.Context(), n.ID, actor(n.owner), who, gateway.RoleOperator)
		},
	} {
		who := n.joined(t, name, gateway.RoleAdmin)
		kept, _ := n.invitedBy(t, who, gateway.RoleViewer)
		id, token := n.invitedBy(t, who, gateway.RoleAdmin)
		_, again, err := n.RenewInvitation(t.Context(), n.Account, actor(n.owner), kept)
		if err := errors.Join(err, end(who)); err != nil {
			t.Fatal(err)
		}
		if _, err := n.JoinAsNew(t.Context(), token, person(name+"-again")); !errors.Is(err, account.ErrInvitationSpent) {
			t.Errorf("the link of who was %s: %v", name, err)
		}
		if got := n.text(t, `SELECT string_agg(object, ' ') FROM audit_log WHERE action = 'member.revoke_invitation' AND object IN ($1, $2)`, id.String(), kept.String()); got != id.String() {
			t.Errorf("%s: revoked are %s in the audit log, want %s", name, got, id)
		}
		if _, err := n.JoinAsNew(t.Context(), again, person(name+"-other")); err != nil {
			t.Errorf("what the owner sent once more: %v", err)
		}
	}
	// So it is with a key that is ended.
	key, _, err := n.CreateKey(t.Context(), n.ID, actor(n.owner), account.NewKey{Name: "ci", Scopes: gateway.Scopes})
	if err != nil {
		t.Fatal(err)
	}
	_, byKey, err := n.InviteMember(t.Context(), n.Account, gateway.Actor(key.ID.String()), account.NewMember{Role: gateway.RoleAdmin})
	if err := errors.Join(err, n.EndKey(t.Context(), n.ID, actor(n.owner), key.ID)); err != nil {
		t.Fatal(err)
	}
	if _, err := n.JoinAsNew(t.Context(), byKey, person("mallory")); !errors.Is(err, account.ErrInvitationSpent) {
		t.Errorf("the link of a key that was ended: %v", err)
	}
	// Who hands the account over may still invite, and owners no more.
	ada := n.joined(t, "ada", gateway.RoleAdmin)
	_, viewer := n.invitedBy(t, n.owner, gateway.RoleViewer)
	_, owner := n.invitedBy(t, n.owner, gateway.RoleOwner)
	if err := n.HandOver(t.Context(), n.Account, n.session(t, n.start(t, n.owner, account.Device{}, "")), password, here, ada); err != nil {
		t.Fatal(err)
	}
	if _, err := n.JoinAsNew(t.Context(), owner, person("boss")); !errors.Is(err, account.ErrInvitationSpent) {
		t.Errorf("an owner, by who is none any more: %v", err)
	}
	if _, err := n.JoinAsNew(t.Context(), viewer, person("vera")); err != nil {
		t.Errorf("a viewer, by an admin: %v", err)
	}
}

// Nobody joins an account that is about to be deleted, until it is restored.
func TestNobodyJoinsWhatIsClosing(t *testing.T) {
	t.Parallel()
	n := newTeam(t, newBundle(t))
	ada := n.create(t, "Other", "ada@example.com").UserID
	token, as := n.ask(t, "", gateway.RoleViewer), account.Person{ID: n.owner, Name: "Olga"}
	if _, err := n.Close(t.Context(), n.Account, as); err != nil {
		t.Fatal(err)
	}
	who := account.Person{ID: ada, Email: "ada@example.com", Name: "Ada"}
	if _, err := n.Join(t.Context(), token, who); !errors.Is(err, account.ErrInvitationSpent) {
		t.Errorf("with a log-in: %v", err)
	}
	if _, err := n.JoinAsNew(t.Context(), token, person("bob")); !errors.Is(err, account.ErrInvitationSpent) {
		t.Errorf("somebody new: %v", err)
	}
	if err := n.Restore(t.Context(), n.Account, as); err != nil {
		t.Fatal(err)
	}
	if _, err := n.Join(t.Context(), token, who); err != nil {
		t.Errorf("once it is restored: %v", err)
	}
}

// Nobody's mailbox is filled with invitations, from however many accounts, and no
// account mails without end.
func TestInvitationMailsAreBounded(t *testing.T) {
	t.Parallel()
	n := newTeam(t, newBundle(t))
	invite := func(of gateway.Account, by gateway.UserID, email string) error {
		_, _, err := n.InviteMember(t.Context(), of, actor(by), account.NewMember{Email: email, Role: gateway.RoleViewer})
		return err
	}
	tooSoon := func(err error) bool {
		soon, ok := errors.AsType[*account.TooSoonError](err)
		return ok && soon.Until.After(n.clock.Now()) && errors.Is(err, gateway.ErrRateLimited)
	}
	i, _, err := n.InviteMember(t.Context(), n.Account, actor(n.owner), account.NewMember{Email: "ada@example.com", Role: gateway.RoleViewer})
	if err != nil {
		t.Fatal(err)
	}
	for range account.InvitesToOne - 1 {
		if _, _, err := n.RenewInvitation(t.Context(), n.Account, actor(n.owner), i.ID); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := n.RenewInvitation(t.Context(), n.Account, actor(n.owner), i.ID); !tooSoon(err) {
		t.Errorf("once more: %v, want TooSoonError", err)
	}
	other := n.create(t, "Other", "bob@example.com")
	if err := invite(gateway.Account{ID: other.AccountID, Name: "Other"}, other.UserID, "ADA@example.com"); !tooSoon(err) {
		t.Errorf("from another account: %v, want TooSoonError", err)
	}
	if mails, _ := n.mailTo(t, "ada@example.com"); mails != account.InvitesToOne {
		t.Errorf("%d mails to one address, want %d", mails, account.InvitesToOne)
	}
	for k := range account.InvitesSent - account.InvitesToOne {
		if err := invite(n.Account, n.owner, fmt.Sprintf("someone%d@example.com", k)); err != nil {
			t.Fatal(err)
		}
	}
	if err := invite(n.Account, n.owner, "late@example.com"); !tooSoon(err) {
		t.Errorf("one too many from an account: %v, want TooSoonError", err)
	}
	if _, _, err := n.InviteMember(t.Context(), n.Account, actor(n.owner), account.NewMember{Role: gateway.RoleViewer}); err != nil {
		t.Errorf("a link that nobody is mailed: %v", err)
	}
	if got := n.text(t, `SELECT count(*)::text FROM invitations WHERE email = 'late@example.com'`); got != "0" {
		t.Error("an invitation was made, and not mailed")
	}
}
