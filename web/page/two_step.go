package page

import (
	"strconv"
	"strings"
	"time"

	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/layout"
)

// TwoStep is the page of a person's two-step log-in.
type TwoStep struct {
	layout.Frame

	Now time.Time
	// OnAt is since when it is on; nil while it is off.
	OnAt *time.Time
	// Begun tells that a key was made, and Key is it while it is shown, once.
	Begun bool
	Key   *StepKey
	// Codes is how many recovery codes are left, and Fresh those that were just
	// made, which are shown once.
	Codes  int
	Fresh  []string
	Errors Errors
}

// fewCodes is how many recovery codes are so few that new ones should be made.
const fewCodes = 3

// StepKey is the key that codes are made of.
type StepKey struct {
	// Text is typed where there is no camera, Link opens a program on the device
	// itself, and Picture is for a camera.
	Text, Link string
	Picture    QRCode
}

// grouped is the text in groups of four.
func (k StepKey) grouped() string {
	var groups []string
	text := k.Text
	for ; len(text) > 4; text = text[4:] {
		groups = append(groups, text[:4])
	}
	return strings.Join(append(groups, text), " ")
}

// QRCode is a picture for a camera.
type QRCode struct {
	// Size is how many squares it is wide and high, and Path those that are dark.
	Size int
	Path string
}

func (c QRCode) box() string {
	size := strconv.Itoa(c.Size)
	return "0 0 " + size + " " + size
}

// codesLeft says how many recovery codes there are.
func (v TwoStep) codesLeft() string {
	if v.Codes == 0 {
		return "No code is left"
	}
	return component.Plural(v.Codes, "code is left", "codes are left")
}

// LogInCode is the page on which a code is asked for after the password.
type LogInCode struct {
	layout.Bare

	// Next is where to go then.
	Next string
	// Recovery asks for a recovery code, and Other leads to where the other kind
	// of code is asked for.
	Recovery bool
	Other    string
	Errors   Errors
}

// PasswordQuestion asks for the person's password before something is done.
type PasswordQuestion struct {
	Action, Cancel string
	Title, Submit  string
	// Text are the paragraphs that say what will happen.
	Text []string
	// Danger tells that something is lost.
	Danger  bool
	Heading bool
	Errors  Errors
}

func (q PasswordQuestion) submit() component.Button {
	if q.Danger {
		return component.Button{Label: q.Submit, Variant: component.Danger}
	}
	return component.Button{Label: q.Submit}
}

// RequireTwoStep asks whether two-step log-in shall be required from members.
type RequireTwoStep struct {
	Action, Cancel string
	// Required tells that it is now: then it is asked whether it shall be up to
	// each of them.
	Required bool
	Heading  bool
}

// EmailForm asks for another address to log in with.
type EmailForm struct {
	Action, Cancel string
	// Present is the address until now, Email what was entered.
	Present, Email string
	// MailOut tells that mails are sent, and do not only wait to be read.
	MailOut bool
	Heading bool
	Errors  Errors
}

func (f EmailForm) submit() string {
	if f.MailOut {
		return "Send the link"
	}
	return "Make the link"
}

// joinLines is a text with one of them a line.
func joinLines(texts []string) string { return strings.Join(texts, "\n") }
