package dashboard

import (
	"strings"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/notify"
	"github.com/rowlock/rowlock/web/layout"
	"github.com/rowlock/rowlock/web/page"
)

func listMails(v *visit) error {
	l := v.listing(mailPath)
	all, err := v.d.Notify.Mails(v.ctx(), asked[gateway.MailID](l))
	if err != nil {
		return err
	}
	view := page.Mails{Now: v.now(), MailOut: v.d.MailOut}
	all, view.Newest, view.Older = shown(l, all, func(m notify.Mail) string { return m.ID.String() })
	for _, m := range all {
		view.Rows = append(view.Rows, mailRow(m))
	}
	if view.Frame, _, err = v.frame("Mail", layout.SectionMail); err != nil {
		return err
	}
	return v.page(page.MailsPage(view))
}

func mailRow(m notify.Mail) page.MailRow {
	return page.MailRow{
		Path: mailPath + "/" + m.ID.String(), To: m.To, Subject: m.Subject, At: m.CreatedAt, State: mailState(m),
	}
}

// mailState tells how far a mail got.
func mailState(m notify.Mail) string {
	switch {
	case m.SentAt != nil:
		return page.MailSent
	case m.Body == "":
		return page.MailOver
	case m.DueAt != nil && m.Tries > 0:
		return page.MailRetrying
	case m.DueAt != nil:
		return page.MailWaiting
	case m.Failure != "":
		return page.MailFailed
	default:
		return page.MailKept
	}
}

func showMail(v *visit) error {
	m, err := v.mail()
	if err != nil {
		return err
	}
	view := page.Mail{
		MailRow: mailRow(m), Now: v.now(), Tries: m.Tries, DueAt: m.DueAt, SentAt: m.SentAt,
		Failure: m.Failure, Body: v.mailLines(m.Body),
	}
	out := v.d.MailOut || m.Channel != nil // messages for channels go out by themselves
	if out && m.SentAt == nil && m.Body != "" && view.State != page.MailWaiting {
		view.Retry = view.Path + "/retry"
	}
	if view.Frame, _, err = v.frame(m.Subject, layout.SectionMail); err != nil {
		return err
	}
	return v.page(page.MailPage(view))
}

// mail is the one in the address.
func (v *visit) mail() (notify.Mail, error) {
	id, err := gateway.ParseID[gateway.MailID](v.Param("mail"))
	if err != nil {
		return notify.Mail{}, err
	}
	return v.d.Notify.Mail(v.ctx(), id)
}

// mailLines are a mail's lines; those that are addresses of this server are
// links.
func (v *visit) mailLines(body string) []page.MailLine {
	var lines []page.MailLine
	for line := range strings.Lines(body) {
		line = strings.TrimRight(line, "\r\n")
		lines = append(lines, page.MailLine{Text: line, Link: strings.HasPrefix(line, v.d.BaseURL+"/") && !strings.Contains(line, " ")})
	}
	return lines
}

func retryMail(v *visit) error {
	m, err := v.mail()
	if err != nil {
		return err
	}
	to := mailPath + "/" + m.ID.String()
	err = v.d.Notify.Retry(v.ctx(), v.person().ID, m.ID)
	if isMissing(err) {
		return v.refused(to, "There is nothing to try: it was sent, or its text is forgotten.")
	}
	if err != nil {
		return err
	}
	return v.done(to, "The mail is tried again now.")
}
