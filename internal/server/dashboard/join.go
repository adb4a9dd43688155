package dashboard

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/rowlock/rowlock/internal/account"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/page"
)

// followInvitation shows where an invitation leads: into an account, or to
// sign-up.
func followInvitation(v *visit) error {
	i, err := v.invitation()
	if err != nil {
		return err
	}
	if i.AccountID == nil {
		return v.signUpWith(i)
	}
	return v.joinPage(http.StatusOK, i, page.JoinForm{Email: i.Email})
}

// invitation reads the invitation in the address.
func (v *visit) invitation() (account.Invitation, error) {
	i, err := v.d.Accounts.InvitationByToken(v.ctx(), v.Param("token"))
	if isMissing(err) {
		return i, &Refusal{
			Status: http.StatusNotFound, Title: "There is no such invitation",
			Text: "The link is not whole, or another one was sent since. Look for the newest mail, or ask whoever invited you for a new link.",
		}
	}
	return i, err
}

// signUpWith leads to sign-up with what the invitation holds.
func (v *visit) signUpWith(i account.Invitation) error {
	if account.StateOf(i, v.now()) != account.InvitationWaits {
		return &Refusal{
			Status: http.StatusNotFound, Title: "This invitation no longer works",
			Text: "It was used, it was taken back, or its seven days are over. Ask whoever invited you for a new one.",
		}
	}
	return v.redirect("/signup?" + url.Values{fieldInvite: {v.Param("token")}}.Encode())
}

// joinPage shows what an invitation offers, or why it does not.
func (v *visit) joinPage(status int, i account.Invitation, f page.JoinForm) error {
	here := "/invite/" + url.PathEscape(v.Param("token"))
	view := page.Join{
		Bare: v.bare("Join " + i.AccountName), Action: here, LogIn: "/login?" + url.Values{fieldNext: {here}}.Encode(),
		Account: i.AccountName, Role: i.Role, For: i.Email, Reader: v.person().Email, Form: f,
	}
	var err error
	if view.By, err = v.whoInvited(i); err != nil {
		return err
	}
	if view.Why, err = v.whyNotJoin(&view, i); err != nil {
		return err
	}
	return v.render(status, page.JoinPage(view))
}

// whoInvited is the name of the person who invited; empty where it was a program.
func (v *visit) whoInvited(i account.Invitation) (string, error) {
	if i.CreatedBy == nil {
		return "", nil
	}
	names, err := v.d.Store.ActorNames(v.ctx(), *i.AccountID, []gateway.Actor{i.Actor})
	return names[i.Actor], err
}

// whyNotJoin says why this person cannot use the invitation; empty when they can.
func (v *visit) whyNotJoin(view *page.Join, i account.Invitation) (page.JoinWhy, error) {
	if v.known() {
		m, err := v.d.Accounts.Member(v.ctx(), v.person().ID, i.AccountID.String())
		if err == nil {
			view.Home = accountPath(m.Account)
			return page.JoinMember, nil
		}
		if !isMissing(err) {
			return "", err
		}
	}
	switch account.StateOf(i, v.now()) {
	case account.InvitationUsed:
		return page.JoinUsed, nil
	case account.InvitationRevoked:
		return page.JoinRevoked, nil
	case account.InvitationExpired:
		return page.JoinExpired, nil
	case account.InvitationWaits:
	}
	if i.AccountClosing {
		return page.JoinClosing, nil
	}
	if v.known() {
		if i.Email != "" && !strings.EqualFold(i.Email, v.person().Email) {
			return page.JoinOther, nil
		}
		return "", nil
	}
	closed, err := v.signupClosed()
	if closed {
		return page.JoinClosed, err
	}
	return "", err
}

// join makes whoever is logged in a member, or somebody new with what they
// entered.
func join(v *visit) error {
	i, err := v.invitation()
	if err != nil {
		return err
	}
	if i.AccountID == nil {
		return v.signUpWith(i)
	}
	if v.known() {
		return v.joinAsReader(i)
	}
	return v.joinAsNew(i)
}

func (v *visit) joinAsReader(i account.Invitation) error {
	_, err := v.d.Accounts.Join(v.ctx(), v.Param("token"), v.person())
	switch {
	case err == nil:
		return v.done("/a/"+url.PathEscape(i.AccountSlug), "Welcome to “"+i.AccountName+"”. You are "+i.Role.WithArticle()+".")
	case errors.Is(err, account.ErrInvitationSpent), errors.Is(err, gateway.ErrMember):
		return v.joinRefused()
	default:
		return err
	}
}

// joinRefused shows the invitation as it is now, which says why.
func (v *visit) joinRefused() error {
	i, err := v.invitation()
	if err != nil {
		return err
	}
	return v.joinPage(http.StatusConflict, i, page.JoinForm{Email: i.Email})
}

var joinSentences = sentences{
	{gateway.ErrEmailTaken, fieldEmail, "Somebody has a log-in with this address. If it is you, log in to join."},
	{account.ErrSignupClosed, "", "Sign-up is closed here. Ask the owner of this instance."},
}

func (v *visit) joinAsNew(i account.Invitation) error {
	f, err := v.readForm()
	if err != nil {
		return err
	}
	entered := page.JoinForm{Name: f.text(fieldName), Email: f.text(fieldEmail), Errors: f.errors}
	if i.Email != "" && !strings.EqualFold(i.Email, entered.Email) {
		f.wrong(fieldEmail, "The invitation is for another address. Use the one that it was sent to.")
	}
	if f.ok() {
		who, err := v.d.Accounts.JoinAsNew(v.ctx(), v.Param("token"), account.SignUp{
			Name: entered.Name, Email: entered.Email, Password: f.raw(fieldPassword),
		})
		switch {
		case err == nil:
			return v.enter(who, false, "/a/"+url.PathEscape(i.AccountSlug))
		case errors.Is(err, account.ErrInvitationSpent):
			return v.joinRefused()
		case !f.take(err, signUpFields, joinSentences):
			return err
		}
	}
	return v.joinPage(http.StatusUnprocessableEntity, i, entered)
}
