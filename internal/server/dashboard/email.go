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
	profilePath = "/me/profile"
	emailPath   = "/me/email"
)

// addEmailRoutes adds the change of the person's address.
func addEmailRoutes(r router) {
	r.personal(get, emailPath, askEmail)
	r.personal(post, emailPath, requestEmail)
	r.personal(get, emailPath+"/:token", showNewEmail)
	r.personal(post, emailPath+"/:token", changeEmail)
}

func (v *visit) emailQuestion(entered string, errs map[string]string) page.EmailForm {
	return page.EmailForm{
		Action: emailPath, Cancel: profilePath, Present: v.person().Email, Email: entered,
		MailOut: v.d.MailOut, Heading: !v.scripted(), Errors: errs,
	}
}

func askEmail(v *visit) error {
	return v.ask("Change your address", "", page.EmailAsk(v.emailQuestion("", nil)))
}

// requestEmail answers the same whoever has the address: it does not tell who
// has signed up.
func requestEmail(v *visit) error {
	f, err := v.readForm()
	if err != nil {
		return err
	}
	if f.raw(fieldPassword) == "" {
		f.wrong(fieldPassword, "Enter your password.")
	}
	status := http.StatusUnprocessableEntity
	if f.ok() {
		err := v.d.Accounts.RequestEmail(v.ctx(), v.session, f.text(fieldEmail), f.raw(fieldPassword), v.RealIP())
		soon, tooSoon := errors.AsType[*account.TooSoonError](err)
		switch {
		case err == nil:
			return v.done(profilePath, emailAsked(f.text(fieldEmail), v.d.MailOut))
		case tooSoon:
			status = http.StatusTooManyRequests
			f.wrong(fieldEmail, "You asked for too many changes. You can ask again in "+component.Duration(soon.Left)+".")
		case f.take(err, map[string]string{fieldEmail: fieldEmail}, sentences{{account.ErrSameEmail, fieldEmail, "You log in with this address already."}}):
		default:
			if status, err = v.passwordWrong(f, fieldPassword, err); err != nil {
				return err
			}
		}
	}
	return v.askAgain(status, "Change your address", "", page.EmailAsk(v.emailQuestion(f.text(fieldEmail), f.errors)))
}

// emailAsked says what comes next.
func emailAsked(email string, mailOut bool) string {
	if mailOut {
		return "A link is on its way to " + email + ". Open it within an hour; until then nothing changes."
	}
	return "The link for " + email + " is made. This instance sends no mail: its owner finds it under Instance → Mail and can pass it on to you within an hour."
}

// emailOver is the answer to a link that is not good any more.
func emailOver() error {
	return &Refusal{
		Status: http.StatusNotFound, Title: "This link no longer works",
		Text: "It was used, its hour is over, a newer one was made, or it is for another log-in. Ask for a new one under Your settings.",
	}
}

func showNewEmail(v *visit) error {
	email, err := v.d.Accounts.EmailAsked(v.ctx(), v.person().ID, v.Param("token"))
	if isMissing(err) {
		return emailOver()
	}
	if err != nil {
		return err
	}
	return v.ask("Change your address", "", page.QuestionForm(page.Question{
		Action: v.Request().URL.Path, Cancel: profilePath, Heading: !v.scripted(),
		Title: "Log in with " + email + "?", Submit: "Change address", Safe: true,
		Text: []string{
			"From now on you log in with it and get your mails there, and no longer at " + v.person().Email + ".",
			"Every other session of yours ends.",
		},
	}))
}

func changeEmail(v *visit) error {
	token, err := v.d.Accounts.ChangeEmail(v.ctx(), v.session, v.Param("token"), v.device(v.session.Keep))
	switch {
	case err == nil:
		return v.goOnWith(token, profilePath, "Your address is changed. Every other session was ended.")
	case isMissing(err):
		return v.refused(profilePath, "That link no longer works. Your address is as it is shown here.")
	case errors.Is(err, account.ErrSessionOver):
		return v.sessionOver()
	case errors.Is(err, gateway.ErrEmailTaken):
		return v.refused(profilePath, "Somebody signed up with that address meanwhile. Nothing was changed.")
	default:
		return err
	}
}
