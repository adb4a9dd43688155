package dashboard

import (
	"net/http"

	"github.com/rowlock/rowlock/web/page"
)

func showForgot(v *visit) error {
	sent := v.QueryParam("sent") != ""
	return v.page(page.ForgotPage(page.Forgot{Bare: v.bare("Reset your password"), Sent: sent, MailOut: v.d.MailOut}))
}

// forgot answers the same whoever asks: it does not tell who has an account.
func forgot(v *visit) error {
	f, err := v.readForm()
	if err != nil {
		return err
	}
	view := page.Forgot{Bare: v.bare("Reset your password"), Email: f.text(fieldEmail), MailOut: v.d.MailOut, Errors: f.errors}
	if f.ok() {
		err = v.d.Accounts.RequestReset(v.ctx(), view.Email)
		if err != nil && !f.take(err, map[string]string{fieldEmail: fieldEmail}, nil) {
			return err
		}
	}
	if !f.ok() {
		return v.invalid(page.ForgotPage(view))
	}
	return v.redirect("/forgot?sent=1")
}

// resetOver is the answer to a link that is not good any more.
func resetOver() error {
	return &Refusal{
		Status: http.StatusNotFound, Title: "This link no longer works",
		Text: "It was used, or its hour is over. Ask for a new one from the log-in page.",
	}
}

func showReset(v *visit) error {
	open, err := v.d.Accounts.ResetOpen(v.ctx(), v.Param("token"))
	if err != nil {
		return err
	}
	if !open {
		return resetOver()
	}
	return v.page(page.ResetPage(page.Reset{Bare: v.bare("Choose a new password"), Token: v.Param("token")}))
}

func reset(v *visit) error {
	f, err := v.readForm()
	if err != nil {
		return err
	}
	if f.raw(fieldPassword) == "" {
		f.wrong(fieldPassword, "Choose a password.")
	}
	if f.ok() {
		err = v.d.Accounts.Reset(v.ctx(), v.Param("token"), f.raw(fieldPassword))
		switch {
		case err == nil:
			return v.redirect("/login?notice=reset")
		case isMissing(err):
			return resetOver()
		case !f.take(err, map[string]string{fieldPassword: fieldPassword}, nil):
			return err
		}
	}
	return v.invalid(page.ResetPage(page.Reset{Bare: v.bare("Choose a new password"), Token: v.Param("token"), Errors: f.errors}))
}
