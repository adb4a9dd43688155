package dashboard

import (
	"errors"
	"net"
	"net/netip"
	"strings"

	"github.com/rowlock/rowlock/internal/account"
	"github.com/rowlock/rowlock/internal/config"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/page"
)

// The fields of the form.
const (
	fieldName     = "name"
	fieldEmail    = "email"
	fieldPassword = "password"
	fieldAccount  = "account"
	fieldSetup    = "setup"
	fieldInvite   = "invite"
	fieldNext     = "next"
)

var signUpFields = map[string]string{
	fieldName: fieldName, fieldEmail: fieldEmail, fieldPassword: fieldPassword, fieldAccount: fieldAccount,
}

var signUpSentences = sentences{
	{gateway.ErrEmailTaken, fieldEmail, "Somebody signed up with this address. Log in, or use another one."},
}

func showSignUp(v *visit) error {
	if v.known() {
		return v.redirect("/")
	}
	f := page.SignUpForm{Setup: v.QueryParam(fieldSetup), Invite: v.QueryParam(fieldInvite)}
	if f.Invite != "" {
		invitation, err := v.d.Accounts.InvitationOpen(v.ctx(), f.Invite)
		if err != nil && !isMissing(err) {
			return err
		}
		f.Email = invitation.Email
	}
	return v.signUpPage(f)
}

// signUpPage shows the form, or why there is none.
func (v *visit) signUpPage(f page.SignUpForm) error {
	state, err := v.d.Accounts.SignupState(v.ctx())
	if err != nil {
		return err
	}
	view := page.SignUp{Bare: v.bare("Create your account"), Form: f, First: !state.HasOwner}
	switch {
	case !state.HasOwner && f.Setup == "" && !v.local():
		view.Closed = page.ClosedSetup
	case state.HasOwner && state.Mode == config.SignupClosed:
		view.Closed = page.ClosedAll
	case state.HasOwner && state.Mode == config.SignupInvite && f.Invite == "":
		view.Closed = page.ClosedInvite
	}
	if len(f.Errors) > 0 {
		return v.invalid(page.SignUpPage(view))
	}
	return v.page(page.SignUpPage(view))
}

func signUp(v *visit) error {
	f, err := v.readForm()
	if err != nil {
		return err
	}
	shown := page.SignUpForm{
		Name: f.text(fieldName), Email: f.text(fieldEmail), Account: f.text(fieldAccount),
		Setup: f.raw(fieldSetup), Invite: f.raw(fieldInvite), Errors: f.errors,
	}
	if !f.ok() {
		return v.signUpPage(shown)
	}
	who, err := v.d.Accounts.SignUp(v.ctx(), account.SignUp{
		Name: shown.Name, Email: shown.Email, Password: f.raw(fieldPassword), Account: shown.Account,
		Setup: shown.Setup, Invite: shown.Invite, Local: v.local(),
	})
	switch {
	case err == nil:
		return v.enter(who, false, "/")
	case closes(err):
		if err := v.whyClosed(f, shown, err); err != nil {
			return err
		}
		return v.signUpPage(shown)
	case f.take(err, signUpFields, signUpSentences):
		return v.signUpPage(shown)
	default:
		return err
	}
}

// closes tells that sign-up is not for this person.
func closes(err error) bool {
	return errors.Is(err, account.ErrSetupNeeded) || errors.Is(err, account.ErrSignupClosed) || errors.Is(err, account.ErrInviteNeeded)
}

// whyClosed tells why: an invitation that is good, but for another address, is
// told beside the address.
func (v *visit) whyClosed(f form, shown page.SignUpForm, why error) error {
	if errors.Is(why, account.ErrInviteNeeded) && shown.Invite != "" {
		invitation, err := v.d.Accounts.InvitationOpen(v.ctx(), shown.Invite)
		if err != nil && !isMissing(err) {
			return err
		}
		if err == nil && invitation.Email != "" && !strings.EqualFold(invitation.Email, shown.Email) {
			f.wrong(fieldEmail, "The invitation is for another address. Use the one that it was sent to.")
			return nil
		}
	}
	f.wrong("", closedText(why))
	return nil
}

func closedText(err error) string {
	switch {
	case errors.Is(err, account.ErrSetupNeeded):
		return "The set-up link no longer works. The server prints a new one when it starts."
	case errors.Is(err, account.ErrInviteNeeded):
		return "The invitation no longer works. Ask whoever invited you for a new one."
	default:
		return "Sign-up is closed here. Ask the owner of this instance."
	}
}

// local tells that the request comes from this machine and is for this machine,
// with nothing between that passes on what others ask: only then may the first
// person sign up without the set-up link.
func (v *visit) local() bool {
	r := v.Request()
	for _, name := range []string{"X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-Ip", "Forwarded", "Via"} {
		if r.Header.Get(name) != "" {
			return false
		}
	}
	if !r.ProtoAtLeast(1, 1) { // proxies that say nothing of themselves commonly speak 1.0, as browsers never do
		return false
	}
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && peer.Addr().Unmap().IsLoopback() && isLoopback(hostOf(r.Host)) && isLoopback(v.d.base.Hostname())
}

// hostOf is a Host header without its port.
func hostOf(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return strings.Trim(host, "[]")
}

func isLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && address.Unmap().IsLoopback()
}
