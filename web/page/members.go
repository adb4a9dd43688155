package page

import (
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/layout"
)

// tabMembers is the page's tab among the settings.
const tabMembers = "members"

// Members is the page of the people of an account, and of those who are invited.
type Members struct {
	layout.Frame

	Now     time.Time
	Rows    []MemberRow
	Invited []InvitedRow
	// Role is the reader's.
	Role gateway.Role
	// Invite asks for whom to invite, Leave whether the reader wants to leave;
	// Invite is empty for who may not.
	Invite, Leave string
	// Link is that of the invitation that was just made, which is shown once, and
	// LinkFor the address that alone can use it; empty is any.
	Link, LinkFor string
	// TwoStepRequired tells that the account is for members with two-step log-in
	// alone, and RequireTwoStep leads to where an owner changes that.
	TwoStepRequired bool
	RequireTwoStep  string
	// MailOut tells that mails are sent, and do not only wait to be read.
	MailOut bool
	// Closed tells that nobody can sign up: only who has a log-in can join.
	Closed bool
	// Newest and Older lead through the list; empty where there is nothing.
	Newest, Older string
	// MoreInvited tells that there are more invitations than are shown.
	MoreInvited bool
}

// MemberRow is one of the people.
type MemberRow struct {
	ID, Name, Email string
	Role            gateway.Role
	// You tells that it is the reader.
	You      bool
	JoinedAt time.Time
	// TwoStep tells that they show a code besides the password.
	TwoStep bool
	// SeenAt is when they looked at the account last; nil is never.
	SeenAt *time.Time
	// SetRole, Remove and HandOver lead to the questions; each is empty for who
	// may not.
	SetRole, Remove, HandOver string
}

// acts tells that something can be done with the member.
func (r MemberRow) acts() bool { return r.SetRole != "" || r.Remove != "" || r.HandOver != "" }

// InvitedRow is somebody who is invited.
type InvitedRow struct {
	ID string
	// For is the address that alone can use it; empty is any.
	For    string
	Role   gateway.Role
	By     string
	EndsAt time.Time
	// Over tells that its time has come.
	Over bool
	// Resend is where it is sent once more, Revoke leads to the question; both are
	// empty for who may not.
	Resend, Revoke string
}

// forWhom says who can use it.
func (r InvitedRow) forWhom() string {
	if r.For == "" {
		return "Whoever has the link"
	}
	return r.For
}

// badge is how it stands.
func (r InvitedRow) badge() (state, text string) {
	if r.Over {
		return "expired", "Expired"
	}
	return "active", "Invited"
}

// again says what sending it once more is.
func (r InvitedRow) again() string {
	if r.For == "" {
		return "New link"
	}
	return "Resend"
}

// InviteForm asks for whom to invite.
type InviteForm struct {
	// Path is the page of members.
	Path  string
	Email string
	// Chosen is the role.
	Chosen string
	// Owner tells that the reader may make owners.
	Owner bool
	// MailOut tells that mails are sent, and Closed that nobody can sign up.
	MailOut, Closed bool
	Heading         bool
	Errors          Errors
}

// emailHint says what an address is good for.
func (f InviteForm) emailHint() string {
	if f.MailOut {
		return "The link goes there by mail and works for that address alone. Leave it empty for a link that you pass on yourself: it works for whoever has it."
	}
	return "The link then works for that address alone. This instance sends no mail: you pass the link on yourself."
}

// RoleForm asks for another role of a member.
type RoleForm struct {
	Action, Cancel string
	Name           string
	// Chosen is the role.
	Chosen string
	// Owner tells that the reader may make owners.
	Owner   bool
	Heading bool
	Errors  Errors
}

// HandOver asks whether an account shall be another person's.
type HandOver struct {
	Action, Cancel string
	// Account is the account's name, Name the person's.
	Account, Name string
	Heading       bool
	Errors        Errors
}
