package page

import "github.com/rowlock/rowlock/web/layout"

// SignUp is the page on which a person makes an account.
type SignUp struct {
	layout.Bare

	Form SignUpForm
	// First tells that nobody has signed up yet: whoever does owns the
	// instance.
	First bool
	// Closed says why there is no form; empty shows the form.
	Closed string
}

// SignUpForm is what is entered there. A password is never shown again.
type SignUpForm struct {
	Name, Email, Account string
	// Setup and Invite are the tokens of the link that led here.
	Setup, Invite string
	Errors        Errors
}

// Why a person cannot sign up.
const (
	ClosedSetup  = "setup"
	ClosedInvite = "invite"
	ClosedAll    = "closed"
)

// LogIn is the page on which a person logs in.
type LogIn struct {
	layout.Bare

	Form LogInForm
	// Notice says what came before; empty says nothing.
	Notice string
	// SignUp offers to make an account.
	SignUp bool
}

// LogInForm is what is entered there. A password is never shown again.
type LogInForm struct {
	Email string
	// Next is where to go then.
	Next   string
	Keep   bool
	Errors Errors
}

// Forgot is the page on which a person asks for a link to a new password.
type Forgot struct {
	layout.Bare

	Email string
	// Sent tells that it was asked for.
	Sent bool
	// MailOut tells that mails are sent, and do not only wait to be read.
	MailOut bool
	Errors  Errors
}

// Reset is the page on which a person chooses a new password.
type Reset struct {
	layout.Bare

	// Token is that of the link that led here.
	Token  string
	Errors Errors
}
