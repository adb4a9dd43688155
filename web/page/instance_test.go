package page_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rowlock/rowlock/web/page"
)

func TestInstanceAccountsPage(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 50} {
		v := page.InstanceAccounts{Frame: framed(), Month: "November 2026, UTC", Now: noon}
		for i := range n {
			v.Rows = append(v.Rows, page.InstanceAccountRow{ID: fmt.Sprintf("acc_%d", i), Name: "Acme", Slug: "acme", Members: 2, Endpoints: 3, Events: 48_213, CreatedAt: noon})
		}
		if n == 50 {
			v.Newest, v.Older = "/instance/accounts", "/instance/accounts?after=acc_49"
		}
		d := drawn(t, page.InstanceAccountsPage(v))
		wantNumber(t, d, "#accounts tbody tr", n)
		wantNumber(t, d, "#accounts a", 0) // of none of them the reader is a member
		wantNumber(t, d, "nav.pager a", n/25)
	}
}

func TestInvitationsPage(t *testing.T) {
	t.Parallel()
	used := noon.Add(-time.Minute)
	v := page.Invitations{Frame: framed(), Now: noon, Rows: []page.InvitationRow{
		{CreatedAt: noon, EndsAt: noon.Add(time.Hour), End: "/instance/invitations/inv_1/end"},
		{For: "ada@example.com", CreatedAt: noon, EndsAt: noon.Add(-time.Hour)},
		{CreatedAt: noon, EndsAt: noon, UsedBy: "bob@example.com", UsedAt: &used},
	}}
	d := drawn(t, page.InvitationsPage(v))
	rows := d.Find("#invitations tbody tr")
	for i, want := range []string{"Whoever has the link", "ada@example.com", "bob@example.com signed up"} {
		if got := words(rows.Eq(i)); !strings.Contains(got, want) {
			t.Errorf("row %d says %q, want %q", i, got, want)
		}
	}
	wantNumber(t, d, "#invitations a", 1) // only the open one can be taken back
	wantNumber(t, d, "#fresh, #mode", 0)
	for _, state := range []string{"Open", "Over", "Used"} {
		wantNumber(t, d, "#invitations .badge:contains('"+state+"')", 1)
	}
}

func TestInvitationsPageOfEachMode(t *testing.T) {
	t.Parallel()
	d := drawn(t, page.InvitationsPage(page.Invitations{Frame: framed(), Now: noon, Open: true, Link: "https://x.example/invite/abc"}))
	wantWords(t, d, "#mode", "Sign-up is open")
	wantWords(t, d, "#fresh code", "https://x.example/invite/abc")
	wantWords(t, d, ".empty", "No invitations")
	d = drawn(t, page.InvitationsPage(page.Invitations{Frame: framed(), Now: noon, Closed: true, Email: "nobody", Errors: page.Errors{"email": "No address."}}))
	wantWords(t, d, "#mode", "Sign-up is closed")
	wantInvalid(t, d, "email", "nobody", "No address.")
	drawn(t, page.EndInvitationQuestion(page.EndInvitation{Action: "/instance/invitations/inv_1/end", Heading: true}))
}

func TestMailsPage(t *testing.T) {
	t.Parallel()
	states := map[string]string{
		page.MailSent: "Sent", page.MailWaiting: "Waiting", page.MailRetrying: "Retrying",
		page.MailFailed: "Not sent", page.MailKept: "To be read here", page.MailOver: "Over",
	}
	v := page.Mails{Frame: framed(), Now: noon}
	wantWords(t, drawn(t, page.MailsPage(v)), ".empty", "No mails")
	for state := range states {
		v.Rows = append(v.Rows, page.MailRow{Path: "/instance/mail/eml_" + state, To: "ada@example.com", Subject: "s", At: noon, State: state})
	}
	d := drawn(t, page.MailsPage(v))
	for state, word := range states {
		if got := words(d.Find("#mails tr:has(a[href='/instance/mail/eml_" + state + "']) .badge")); got != word {
			t.Errorf("%s is called %q", state, got)
		}
	}
	wantWords(t, d, "#mode", "sends no mail")
	v.MailOut = true
	wantWords(t, drawn(t, page.MailsPage(v)), "#mode", "Mails are sent")
}

func TestMailPage(t *testing.T) {
	t.Parallel()
	due := noon.Add(time.Minute)
	v := page.Mail{
		Frame: framed(), Now: noon, MailRow: page.MailRow{Path: "/instance/mail/eml_1", To: "ada@example.com", Subject: "Subject", At: noon, State: page.MailRetrying},
		Tries: 2, DueAt: &due, Failure: "550 no such mailbox", Retry: "/instance/mail/eml_1/retry",
		Body: []page.MailLine{{Text: "Hello"}, {Text: "https://hooks.example.com/reset/token", Link: true}},
	}
	d := drawn(t, page.MailPage(v))
	wantNumber(t, d, "#body a[href='https://hooks.example.com/reset/token']", 1)
	wantWords(t, d, "#failure", "550 no such mailbox")
	wantNumber(t, d, "form[action='/instance/mail/eml_1/retry']", 1)
	v.Body, v.Retry, v.Failure, v.DueAt, v.State, v.SentAt = nil, "", "", nil, page.MailSent, &noon
	d = drawn(t, page.MailPage(v))
	wantWords(t, d, "#body", "forgotten when the mail was sent")
	wantNumber(t, d, "#failure, main form", 0)
}
