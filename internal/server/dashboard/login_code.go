package dashboard

import (
	"errors"
	"net/http"
	"net/url"

	"github.com/rowlock/rowlock/internal/account"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/page"
)

const (
	fieldCode     = "code"
	fieldRecovery = "recovery"
	codePath      = "/login/code"
)

// halfToken is what the browser holds since its password was right: it stands in
// the cookie of the session that it becomes.
func (v *visit) halfToken() string {
	cookie, err := v.Request().Cookie(v.d.sessions.name)
	if err != nil {
		return ""
	}
	return cookie.Value
}

// askCode leads to where the code is asked for, with what the password has
// earned, and from there on.
func (v *visit) askCode(token, to string) error {
	if err := v.d.setSession(v.Response(), v.Request(), token, 0); err != nil {
		return err
	}
	return v.redirect(codePath + "?" + url.Values{fieldNext: {to}}.Encode())
}

func showLogInCode(v *visit) error {
	if v.known() {
		return v.redirect(localPath(v.QueryParam(fieldNext), "/"))
	}
	_, err := v.d.Accounts.HalfLogin(v.ctx(), v.halfToken())
	if isMissing(err) {
		return v.logInOver()
	}
	if err != nil {
		return err
	}
	return v.codePage(http.StatusOK, page.LogInCode{Next: v.QueryParam(fieldNext), Recovery: v.QueryParam(fieldRecovery) != ""})
}

// logInOver leads back to where the password is asked for.
func (v *visit) logInOver() error { return v.redirect("/login?notice=late") }

func (v *visit) codePage(status int, view page.LogInCode) error {
	view.Bare = v.bare("Enter a code")
	other := url.Values{fieldNext: {view.Next}}
	if !view.Recovery {
		other.Set(fieldRecovery, "1")
	}
	view.Other = codePath + "?" + other.Encode()
	return v.render(status, page.LogInCodePage(view))
}

func logInWithCode(v *visit) error {
	f, err := v.readForm()
	if err != nil {
		return err
	}
	view := page.LogInCode{Next: f.raw(fieldNext), Recovery: f.checked(fieldRecovery), Errors: f.errors}
	if f.text(fieldCode) == "" {
		f.wrong(fieldCode, "Enter a code.")
	}
	if !f.ok() {
		return v.codePage(http.StatusUnprocessableEntity, view)
	}
	in, err := v.d.Accounts.EnterWithCode(v.ctx(), v.halfToken(), f.text(fieldCode), v.device(false))
	wait, locked := v.lockedFor(err)
	switch {
	case err == nil:
		return v.enterWith(in, localPath(view.Next, "/"))
	case errors.Is(err, gateway.ErrNotFound):
		return v.logInOver()
	case locked:
		f.wrong(fieldCode, "Too many tries. You can try again in "+wait+".")
		return v.codePage(http.StatusTooManyRequests, view)
	case f.take(err, nil, sentences{
		{account.ErrWrongCode, fieldCode, wrongCode(view.Recovery)},
		{account.ErrUsedCode, fieldCode, "This code has let you in once. Wait for the next one."},
	}):
		return v.codePage(http.StatusUnprocessableEntity, view)
	default:
		return err
	}
}

func wrongCode(recovery bool) string {
	if recovery {
		return "This is none of your recovery codes. Each works once, and new ones replace those from before."
	}
	return "This is not the code. Enter the one that is shown now; your phone’s clock has to be right."
}

// enterWith goes on as who has shown a code. Who used a recovery code is told how
// many are left.
func (v *visit) enterWith(in account.Entered, to string) error {
	if err := v.d.setSession(v.Response(), v.Request(), in.Token, keptFor(in.Keep)); err != nil {
		return err
	}
	if in.CodesLeft == nil {
		return v.redirect(to)
	}
	var err error
	if v.session, err = v.d.Accounts.Session(v.ctx(), in.Token); err != nil {
		return err
	}
	v.token = in.Token
	return v.done(twoStepPath, "You used a recovery code. You have "+component.Plural(*in.CodesLeft, "code", "codes")+" left.")
}
