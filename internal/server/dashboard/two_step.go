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

const (
	twoStepPath = "/me/two-step"
	// freshKey and freshCodes stand for what was just made, and is shown once.
	freshKey   = "key"
	freshCodes = "codes"
)

// addTwoStepRoutes adds two-step log-in of the person.
func addTwoStepRoutes(r router) {
	r.personal(get, twoStepPath, showTwoStep)
	r.personal(post, twoStepPath, turnTwoStepOn)
	for name, ask := range passwordAsks {
		r.personal(get, twoStepPath+"/"+name, ask.ask)
		r.personal(post, twoStepPath+"/"+name, ask.answer)
	}
}

func showTwoStep(v *visit) error { return v.twoStepPage(http.StatusOK, nil) }

func (v *visit) twoStepPage(status int, errs map[string]string) error {
	state, err := v.d.Accounts.TwoStep(v.ctx(), v.person().ID)
	if err != nil {
		return err
	}
	frame, left, err := v.frame("Two-step log-in", "")
	if err != nil {
		return err
	}
	view := page.TwoStep{Frame: frame, Now: v.now(), OnAt: state.OnAt, Begun: state.Begun, Codes: state.Codes, Errors: errs}
	if codes := left.secretOf(freshCodes); codes != "" {
		view.Fresh = strings.Fields(codes)
	}
	if key := left.secretOf(freshKey); key != "" && state.OnAt == nil {
		if view.Key, err = stepKeyOf(key); err != nil {
			return err
		}
	}
	return v.render(status, page.TwoStepPage(view))
}

// stepKeyOf is a key as the page shows it: as a picture for a camera, and as a text
// in groups for who types it.
func stepKeyOf(keyURL string) (*page.StepKey, error) {
	u, err := url.Parse(keyURL)
	if err != nil {
		return nil, err
	}
	picture, err := drawCode(keyURL)
	return &page.StepKey{Text: u.Query().Get("secret"), Link: keyURL, Picture: picture}, err
}

// turnTwoStepOn takes the first code. It is not redirected away from where it is
// wrong: the key is in the person's program by then.
func turnTwoStepOn(v *visit) error {
	f, err := v.readForm()
	if err != nil {
		return err
	}
	if f.text(fieldCode) == "" {
		f.wrong(fieldCode, "Enter the code that is shown now.")
	}
	if !f.ok() {
		return v.twoStepPage(http.StatusUnprocessableEntity, f.errors)
	}
	codes, err := v.d.Accounts.TurnTwoStepOn(v.ctx(), v.session, f.text(fieldCode), v.RealIP())
	wait, locked := v.lockedFor(err)
	switch {
	case err == nil:
		return v.flash(twoStepPath, flash{
			Text: "Two-step log-in is on. Every other session was ended.", Secret: strings.Join(codes, " "), Of: freshCodes,
		})
	case errors.Is(err, gateway.ErrStateChanged):
		return v.refused(twoStepPath, "Two-step log-in was turned on or begun anew meanwhile.")
	case locked:
		f.wrong(fieldCode, "Too many tries. You can try again in "+wait+".")
		return v.twoStepPage(http.StatusTooManyRequests, f.errors)
	case f.take(err, nil, sentences{{account.ErrWrongCode, fieldCode, wrongCode(false)}}):
		return v.twoStepPage(http.StatusUnprocessableEntity, f.errors)
	default:
		return err
	}
}

// passwordAsk is something that is done for who shows their password.
type passwordAsk struct {
	question page.PasswordQuestion
	// do does it and says what is to be told of it.
	do func(v *visit, password string) (flash, error)
	// late says why it could not be done, where it was done otherwise meanwhile.
	late string
}

var passwordAsks = map[string]passwordAsk{
	"new": {
		question: page.PasswordQuestion{
			Title: "Turn two-step log-in on", Submit: "Go on",
			Text: []string{"You need a program that makes codes: an authenticator on your phone, or a password manager."},
		},
		do: func(v *visit, password string) (flash, error) {
			key, err := v.d.Accounts.BeginTwoStep(v.ctx(), v.session, password, v.RealIP())
			return flash{Secret: key, Of: freshKey}, err
		},
		late: "Two-step log-in is on already.",
	},
	"codes": {
		question: page.PasswordQuestion{
			Title: "Make new recovery codes?", Submit: "Make new codes",
			Text: []string{"The codes that you have now stop working."},
		},
		do: func(v *visit, password string) (flash, error) {
			codes, err := v.d.Accounts.NewRecoveryCodes(v.ctx(), v.session, password, v.RealIP())
			return flash{Secret: strings.Join(codes, " "), Of: freshCodes}, err
		},
		late: "Two-step log-in is off.",
	},
	"off": {
		question: page.PasswordQuestion{
			Title: "Turn two-step log-in off?", Submit: "Turn off", Danger: true,
			Text: []string{
				"Your password alone lets you in then. The key and the recovery codes are forgotten: to turn it on again you begin anew.",
				"Accounts that ask their members for it are closed to you until it is on again.",
			},
		},
		do: func(v *visit, password string) (flash, error) {
			err := v.d.Accounts.TurnTwoStepOff(v.ctx(), v.session, password, v.RealIP())
			return flash{Text: "Two-step log-in is off."}, err
		},
		late: "Two-step log-in is off already.",
	},
}

// shown is the question, with what was wrong about the answer.
func (a passwordAsk) shown(v *visit, status int, errs map[string]string) error {
	q := a.question
	q.Action, q.Cancel, q.Heading, q.Errors = v.Request().URL.Path, twoStepPath, !v.scripted(), errs
	return v.askAgain(status, q.Title, "", page.PasswordAsk(q))
}

func (a passwordAsk) ask(v *visit) error { return a.shown(v, http.StatusOK, nil) }

func (a passwordAsk) answer(v *visit) error {
	f, err := v.readForm()
	if err != nil {
		return err
	}
	if f.raw(fieldPassword) == "" {
		f.wrong(fieldPassword, "Enter your password.")
	}
	if !f.ok() {
		return a.shown(v, http.StatusUnprocessableEntity, f.errors)
	}
	left, err := a.do(v, f.raw(fieldPassword))
	switch {
	case err == nil:
		return v.flash(twoStepPath, left)
	case errors.Is(err, gateway.ErrStateChanged):
		return v.refused(twoStepPath, a.late)
	}
	status, err := v.passwordWrong(f, fieldPassword, err)
	if err != nil {
		return err
	}
	return a.shown(v, status, f.errors)
}

// passwordWrong puts beside a field what was wrong about a password, and returns
// the answer's status. Any other error it returns.
func (v *visit) passwordWrong(f form, field string, err error) (status int, other error) {
	if wait, locked := v.lockedFor(err); locked {
		f.wrong(field, "Too many tries. You can try again in "+wait+".")
		return http.StatusTooManyRequests, nil
	}
	if errors.Is(err, account.ErrWrongCredentials) {
		f.wrong(field, "This is not your password.")
		return http.StatusUnprocessableEntity, nil
	}
	return 0, err
}
