package page

import (
	"time"

	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/layout"
)

// InstanceAccounts is the list of all accounts, for the instance's owner.
type InstanceAccounts struct {
	layout.Frame
	Rows []InstanceAccountRow
	// Month is what Events are counted of: "November 2026, UTC".
	Month string
	Now   time.Time
	// Newest leads to the first page from a later one, Older to the next;
	// empty for none.
	Newest, Older string
}

// InstanceAccountRow is one account.
type InstanceAccountRow struct {
	ID, Name, Slug string
	// Path is where its pages are; empty where the reader is no member.
	Path               string
	Members, Endpoints int
	Events             int64
	CreatedAt          time.Time
	// DeleteAt is from when on it is deleted; nil: it is not to be. Gone tells
	// that it is, and its rows go now.
	DeleteAt *time.Time
	Gone     bool
}

// Invitations is the list of invitations, and the form that makes one.
type Invitations struct {
	layout.Frame
	Rows []InvitationRow
	Now  time.Time
	// Email and Errors are of the form.
	Email  string
	Errors Errors
	// Link is the link of the one that was just made, which is shown once.
	Link string
	// Open tells that anybody can sign up without an invitation, and Closed
	// that nobody can, with one or without.
	Open, Closed bool
	// MailOut tells that mails are sent, and do not only wait to be read.
	MailOut       bool
	Newest, Older string
}

// InvitationRow is one invitation.
type InvitationRow struct {
	// For is the address that alone can use it; empty is any.
	For       string
	CreatedAt time.Time
	// EndsAt is until when it can be used, or when it was over.
	EndsAt time.Time
	// UsedBy is the address of who signed up with it, UsedAt when.
	UsedBy string
	UsedAt *time.Time
	// End leads to the question whether to take it back; empty where it is
	// over.
	End string
}

func (r InvitationRow) badge() (state, text string) {
	switch {
	case r.UsedAt != nil:
		return "delivered", "Used"
	case r.End == "":
		return "ended", "Over"
	default:
		return "active", "Open"
	}
}

// forWhom says who can use it.
func (r InvitationRow) forWhom() string {
	if r.For == "" {
		return "Whoever has the link"
	}
	return r.For
}

// EndInvitation asks whether an invitation shall be taken back.
type EndInvitation struct {
	// Action is where that is posted.
	Action string
	// Heading is true on a page of its own.
	Heading bool
}

// Mails is the list of mails, for the instance's owner.
type Mails struct {
	layout.Frame
	Rows []MailRow
	Now  time.Time
	// MailOut tells that mails are sent, and do not only wait to be read.
	MailOut       bool
	Newest, Older string
}

// The states of a mail.
const (
	MailSent     = "sent"
	MailWaiting  = "waiting"
	MailRetrying = "retrying"
	MailFailed   = "failed"
	MailKept     = "kept"
	MailOver     = "over"
)

// MailRow is one mail.
type MailRow struct {
	Path, To, Subject string
	At                time.Time
	// State is one of the Mail constants.
	State string
}

// Mail is the page of one mail.
type Mail struct {
	layout.Frame
	MailRow
	Now   time.Time
	Tries int
	// DueAt is when the next try is due, SentAt when it was taken.
	DueAt, SentAt *time.Time
	// Failure is what the last try said.
	Failure string
	// Body are the lines of it; none once it is forgotten.
	Body []MailLine
	// Retry is where another try is asked for; empty where there is nothing to
	// try.
	Retry string
}

// MailLine is a line of a mail: a text, or a link of this server.
type MailLine struct {
	Text string
	Link bool
}

// mailBadge is the look and the word of a mail's state.
func mailBadge(state string) (look, word string) {
	switch state {
	case MailSent:
		return "delivered", "Sent"
	case MailWaiting:
		return "pending", "Waiting"
	case MailRetrying:
		return "retrying", "Retrying"
	case MailFailed:
		return "failed", "Not sent"
	case MailKept:
		return "held", "To be read here"
	default:
		return "ended", "Over"
	}
}

// instanceTabs are the pages about who is on the instance.
func instanceTabs(current string) []component.Choice {
	tabs := []component.Choice{
		{Text: "Accounts", Href: "/instance/accounts"},
		{Text: "Invitations", Href: "/instance/invitations"},
	}
	for i := range tabs {
		tabs[i].Current = tabs[i].Href == current
	}
	return tabs
}
