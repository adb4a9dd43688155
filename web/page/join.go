package page

import (
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/layout"
)

// Join is the page on which somebody who is invited joins an account.
type Join struct {
	layout.Bare

	// Action is the page's own address, where its forms are posted.
	Action string
	// Account is the account's name, Role what the person will be, By who
	// invited them.
	Account string
	Role    gateway.Role
	By      string
	// For is the address that alone can use it; empty is any.
	For string
	// Reader is the address of who is logged in; empty is nobody.
	Reader string
	// Why says why it cannot be used; empty shows a form.
	Why JoinWhy
	// Home is where the account's pages are, for who is a member already.
	Home string
	// LogIn is where somebody logs in and comes back.
	LogIn string
	Form  JoinForm
}

// JoinForm is what somebody enters who is new here. A password is never shown
// again.
type JoinForm struct {
	Name, Email string
	Errors      Errors
}

// JoinWhy is why an invitation cannot be used.
type JoinWhy string

// Why it cannot be used.
const (
	JoinUsed    JoinWhy = "used"
	JoinRevoked JoinWhy = "revoked"
	JoinExpired JoinWhy = "expired"
	// JoinOther is an invitation for another address than the reader's.
	JoinOther JoinWhy = "other"
	// JoinMember is a reader who is a member already.
	JoinMember JoinWhy = "member"
	// JoinClosing is an account that is about to be deleted.
	JoinClosing JoinWhy = "closing"
	// JoinClosed is somebody new where nobody can sign up.
	JoinClosed JoinWhy = "closed"
)

// title says what is the matter.
func (v Join) title() string {
	switch v.Why {
	case JoinUsed:
		return "This invitation was used."
	case JoinRevoked:
		return "This invitation was taken back."
	case JoinExpired:
		return "This invitation’s seven days are over."
	case JoinOther:
		return "This invitation is for somebody else."
	case JoinMember:
		return "You are a member already."
	case JoinClosing:
		return "This account is about to be deleted."
	case JoinClosed:
		return "Sign-up is closed on this instance."
	default:
		return ""
	}
}

// advice says what to do.
func (v Join) advice() string {
	switch v.Why {
	case JoinUsed:
		return "Each lets one person in. If it was you, log in. If not, ask " + v.asked() + " for another one."
	case JoinRevoked, JoinExpired:
		return "Ask " + v.asked() + " to send you another one."
	case JoinOther:
		return "It works for " + v.For + " alone, and you are logged in as " + v.Reader + ". Log out and open the link again, or ask " + v.asked() + " to invite your address."
	case JoinMember:
		return "There is nothing to do. The invitation is still good for somebody else, if it names nobody."
	case JoinClosing:
		return "Nobody can join it. If one of its owners restores it, open the link again."
	case JoinClosed:
		return "If you have a log-in here, log in to join. If not, ask the owner of this instance to let you in."
	default:
		return ""
	}
}

// asked is who can send another one.
func (v Join) asked() string {
	if v.By == "" {
		return "an admin of the account"
	}
	return v.By
}
