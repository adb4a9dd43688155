package dashboard

import (
	"errors"
	"net/http"

	"github.com/rowlock/rowlock/internal/account"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/page"
)

const (
	fieldCurrent = "current"
	securityPath = "/me/security"
)

func showSecurity(v *visit) error { return v.securityPage(http.StatusOK, nil) }

func (v *visit) securityPage(status int, errs map[string]string) error {
	sessions, err := v.d.Accounts.Sessions(v.ctx(), v.person().ID)
	if err != nil {
		return err
	}
	frame, _, err := v.frame("Password and sessions", "")
	if err != nil {
		return err
	}
	view := page.Security{Frame: frame, Errors: errs, Now: v.now()}
	for _, s := range sessions {
		view.Sessions = append(view.Sessions, v.sessionRow(s))
	}
	return v.render(status, page.SecurityPage(view))
}

func (v *visit) sessionRow(s account.Session) page.SessionRow {
	agent := readAgent(s.Agent)
	return page.SessionRow{
		Device: agent.words(), Phone: agent.phone, Address: s.Address,
		SeenAt: s.SeenAt, StartedAt: s.CreatedAt,
		This:      s.ID == v.session.ID,
		EndAction: securityPath + "/sessions/" + s.ID.String() + "/end",
	}
}

func changePassword(v *visit) error {
	f, err := v.readForm()
	if err != nil {
		return err
	}
	for name, message := range map[string]string{fieldCurrent: "Enter your present password.", fieldPassword: "Choose a password."} {
		if f.raw(name) == "" {
			f.wrong(name, message)
		}
	}
	if !f.ok() {
		return v.securityPage(http.StatusUnprocessableEntity, f.errors)
	}
	token, err := v.d.Accounts.ChangePassword(v.ctx(), v.session, f.raw(fieldCurrent), f.raw(fieldPassword), v.device(v.session.Keep))
	wait, locked := v.lockedFor(err)
	switch {
	case err == nil:
		return v.goOnWith(token, securityPath, "Your password is changed. Every other session was ended.")
	case errors.Is(err, account.ErrSessionOver):
		return v.sessionOver()
	case locked:
		f.wrong(fieldCurrent, "Too many tries. You can try again in "+wait+".")
		return v.securityPage(http.StatusTooManyRequests, f.errors)
	case f.take(err, map[string]string{fieldPassword: fieldPassword}, sentences{
		{account.ErrWrongCredentials, fieldCurrent, "This is not your present password."},
	}):
		return v.securityPage(http.StatusUnprocessableEntity, f.errors)
	default:
		return err
	}
}

// goOnWith gives the browser the session that a new password or address began.
func (v *visit) goOnWith(token, to, message string) error {
	if err := v.d.setSession(v.Response(), v.Request(), token, keptFor(v.session.Keep)); err != nil {
		return err
	}
	session, err := v.d.Accounts.Session(v.ctx(), token)
	if err != nil {
		return err
	}
	v.session, v.token = session, token
	return v.done(to, message)
}

// sessionOver leads to where somebody logs in whose session was ended while they
// did something in it.
func (v *visit) sessionOver() error { return v.redirect("/login?notice=ended") }

func endSession(v *visit) error {
	id, err := gateway.ParseID[gateway.SessionID](v.Param("session"))
	if err != nil {
		return err
	}
	if id == v.session.ID {
		return v.refused(securityPath, "This is the session that you are in. Log out to end it.")
	}
	err = v.d.Accounts.EndSession(v.ctx(), v.person().ID, id)
	if isMissing(err) {
		return v.done(securityPath, "That session was over already.")
	}
	if err != nil {
		return err
	}
	return v.done(securityPath, "The session was ended.")
}

func askEndOthers(v *visit) error {
	sessions, err := v.d.Accounts.Sessions(v.ctx(), v.person().ID)
	if err != nil {
		return err
	}
	others := max(len(sessions)-1, 0)
	return v.ask("Log out everywhere else", "", page.EndOthersQuestion(page.EndOthers{Others: others, Heading: !v.scripted()}))
}

func endOthers(v *visit) error {
	ended, err := v.d.Accounts.EndOtherSessions(v.ctx(), v.person().ID, v.session.ID)
	if err != nil {
		return err
	}
	if ended == 0 {
		return v.done(securityPath, "There was no other session.")
	}
	return v.done(securityPath, component.Plural(ended, "session was ended.", "sessions were ended."))
}
