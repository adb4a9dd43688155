package page_test

import (
	"testing"

	"github.com/rowlock/rowlock/web/layout"
	"github.com/rowlock/rowlock/web/page"
)

var bare = layout.Bare{Title: "Title"}

func TestSignUpPage(t *testing.T) {
	t.Parallel()
	d := drawn(t, page.SignUpPage(page.SignUp{Bare: bare, First: true}))
	wantWords(t, d, ".lede", "you will own this instance")
	wantNumber(t, d, "form[action='/signup']", 1)
	for closed, want := range map[string]string{page.ClosedSetup: "set-up link", page.ClosedInvite: "invitation", page.ClosedAll: "Ask the owner"} {
		d = drawn(t, page.SignUpPage(page.SignUp{Bare: bare, Closed: closed}))
		wantNumber(t, d, "form", 0)
		wantWords(t, d, ".callout", want)
	}
}

// A form that is shown again has all that was entered, save the password.
func TestSignUpPageKeepsItsFields(t *testing.T) {
	t.Parallel()
	d := drawn(t, page.SignUpPage(page.SignUp{Bare: bare, Form: page.SignUpForm{
		Name: "<Mara>", Email: "nobody", Account: `"Acme"`, Setup: "s", Invite: "i",
		Errors: page.Errors{"name": "N.", "email": "E.", "password": "P.", "account": "A.", "": "All."},
	}}))
	wantInvalid(t, d, "name", "<Mara>", "N.")
	wantInvalid(t, d, "email", "nobody", "E.")
	wantInvalid(t, d, "password", "", "P.")
	wantInvalid(t, d, "account", `"Acme"`, "A.")
	wantWords(t, d, "[role=alert]", "All.")
	if d.Find("[name=setup]").AttrOr("value", "") != "s" || d.Find("[name=invite]").AttrOr("value", "") != "i" {
		t.Error("the tokens are gone")
	}
}

func TestLogInPage(t *testing.T) {
	t.Parallel()
	d := drawn(t, page.LogInPage(page.LogIn{Bare: bare, Notice: "You are logged out.", SignUp: true, Form: page.LogInForm{
		Email: "mara@example.com", Next: "/a/acme?x=1&y=2", Keep: true, Errors: page.Errors{"password": "Wrong."},
	}}))
	wantWords(t, d, "[role=status]", "You are logged out.")
	wantInvalid(t, d, "password", "", "Wrong.")
	wantNumber(t, d, "[name=keep][checked]", 1)
	wantNumber(t, d, "a[href='/signup']", 1)
	if got := d.Find("[name=next]").AttrOr("value", ""); got != "/a/acme?x=1&y=2" {
		t.Errorf("next is %q", got)
	}
	d = drawn(t, page.LogInPage(page.LogIn{Bare: bare}))
	wantNumber(t, d, "a[href='/signup'], [role=status], [aria-invalid]", 0)
}

func TestForgotPage(t *testing.T) {
	t.Parallel()
	d := drawn(t, page.ForgotPage(page.Forgot{Bare: bare, Email: "nobody", Errors: page.Errors{"email": "No address."}}))
	wantInvalid(t, d, "email", "nobody", "No address.")
	wantWords(t, d, "main", "sends no mail")
	wantWords(t, d, "form [type=submit]", "Make the link")
	d = drawn(t, page.ForgotPage(page.Forgot{Bare: bare, MailOut: true}))
	wantWords(t, d, "form [type=submit]", "Send the link")
	d = drawn(t, page.ForgotPage(page.Forgot{Bare: bare, Sent: true}))
	wantNumber(t, d, "form", 0)
	wantWords(t, d, ".callout", "sends no mail")
	wantWords(t, d, ".callout", "rowlock account reset-link")
	d = drawn(t, page.ForgotPage(page.Forgot{Bare: bare, Sent: true, MailOut: true}))
	wantWords(t, d, "[role=status]", "on its way")
	wantNumber(t, d, ".callout", 0)
}

func TestResetPage(t *testing.T) {
	t.Parallel()
	d := drawn(t, page.ResetPage(page.Reset{Bare: bare, Token: "abc", Errors: page.Errors{"password": "Too short.", "": "All."}}))
	wantInvalid(t, d, "password", "", "Too short.")
	wantNumber(t, d, "form[action='/reset/abc']", 1)
	wantWords(t, d, "[role=alert]", "All.")
}

func TestFailurePages(t *testing.T) {
	t.Parallel()
	why := layout.Failure{Title: "There is nothing here", Text: "Go back.", Reference: "abc", Back: "/", BackLabel: "Go to the start"}
	wantWords(t, drawn(t, layout.FailureEntrance(bare, why)), "main [role=alert]", "There is nothing here Go back. Request abc")
	d := drawn(t, layout.FailurePage(framed(), why))
	wantNumber(t, d, "main a[href='/']", 1)
	wantNumber(t, d, "nav[aria-label=Sections]", 2)
}
