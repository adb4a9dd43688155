package dashboard

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/rowlock/rowlock/internal/account"
	"github.com/rowlock/rowlock/internal/config"
	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/page"
)

const (
	fieldKeep = "keep"
	// keptCookie is how long a browser keeps the cookie of who asked to stay
	// logged in: longer than any session lives, which the server alone decides.
	keptCookie = 200 * 24 * time.Hour
)

// notices are what the log-in page says about what came before it.
var notices = map[string]string{
	"reset":   "Your password is changed. Log in with the new one.",
	"out":     "You are logged out.",
	"changed": "Your password is changed. Every other session was ended.",
	"late":    "That log-in is over. Enter your password again.",
	"ended":   "Your session was ended meanwhile, and nothing was changed. Log in to go on.",
}

func showLogIn(v *visit) error {
	if v.known() {
		return v.redirect(localPath(v.QueryParam(fieldNext), "/"))
	}
	return v.logInPage(http.StatusOK, page.LogInForm{Next: v.QueryParam(fieldNext)})
}

func (v *visit) logInPage(status int, f page.LogInForm) error {
	state, err := v.d.Accounts.SignupState(v.ctx())
	if err != nil {
		return err
	}
	view := page.LogIn{
		Bare: v.bare("Log in"), Form: f, Notice: notices[v.QueryParam("notice")],
		SignUp: !state.HasOwner || state.Mode == config.SignupOpen,
	}
	return v.render(status, page.LogInPage(view))
}

func logIn(v *visit) error {
	f, err := v.readForm()
	if err != nil {
		return err
	}
	shown := page.LogInForm{Email: f.text(fieldEmail), Next: f.raw(fieldNext), Keep: f.checked(fieldKeep), Errors: f.errors}
	if !f.ok() {
		return v.logInPage(http.StatusUnprocessableEntity, shown)
	}
	who, err := v.d.Accounts.LogIn(v.ctx(), account.Credentials{
		Email: shown.Email, Password: f.raw(fieldPassword), Address: v.RealIP(),
	})
	if err == nil {
		err = v.enter(who, shown.Keep, localPath(shown.Next, "/"))
	}
	wait, locked := v.lockedFor(err)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, account.ErrWrongCredentials):
		f.wrong(fieldPassword, "The address or the password is wrong.")
		return v.logInPage(http.StatusUnprocessableEntity, shown)
	case locked:
		f.wrong(fieldPassword, "Too many tries. You can try again in "+wait+", or have the password reset.")
		return v.logInPage(http.StatusTooManyRequests, shown)
	default:
		return err
	}
}

// lockedFor tells whether an error says that there were too many tries, and for
// how long no other counts. The answer's header says the same.
func (v *visit) lockedFor(err error) (wait string, locked bool) {
	l, locked := errors.AsType[*account.LockedError](err)
	if !locked {
		return "", false
	}
	left := l.Until.Sub(v.now())
	v.Response().Header().Set("Retry-After", strconv.Itoa(int(max(left, time.Second)/time.Second)))
	return component.Duration(left), true
}

// enter starts a session of its own for somebody who has just shown who they
// are: a token that the browser held before is worth nothing afterwards. Who has
// to show a code is led to where it is asked for.
// When their password was changed meanwhile it is account.ErrWrongCredentials.
func (v *visit) enter(who account.Proven, keep bool, to string) error {
	started, err := v.d.Accounts.StartSession(v.ctx(), who, v.device(keep), v.token)
	if err != nil {
		return err
	}
	if started.CodeNeeded {
		return v.askCode(started.Token, to)
	}
	if err := v.d.setSession(v.Response(), v.Request(), started.Token, keptFor(keep)); err != nil {
		return err
	}
	return v.redirect(to)
}

// device is what a session is known by in the list of sessions.
func (v *visit) device(keep bool) account.Device {
	return account.Device{Address: v.RealIP(), Agent: v.Request().UserAgent(), Keep: keep}
}

// keptFor is how long a browser keeps the cookie; zero is until it is closed.
func keptFor(keep bool) time.Duration {
	if keep {
		return keptCookie
	}
	return 0
}

func logOut(v *visit) error {
	if v.known() {
		if err := v.d.Accounts.LogOut(v.ctx(), v.session); err != nil && !isMissing(err) {
			return err
		}
	}
	if err := v.d.setSession(v.Response(), v.Request(), "", 0); err != nil {
		return err
	}
	return v.redirect("/login?notice=out")
}
