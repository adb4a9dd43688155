package page

import (
	"time"

	"github.com/rowlock/rowlock/web/layout"
)

// Accounts is the list of the accounts that a person is a member of.
type Accounts struct {
	layout.Frame
	Rows []AccountRow
	// MayOpen tells that the person may make a further account.
	MayOpen bool
	Now     time.Time
}

// AccountRow is one of them.
type AccountRow struct {
	Name string
	// Path is where its pages are.
	Path string
	// Role is the person's role, in words.
	Role      string
	CreatedAt time.Time
	// Last marks the one that they looked at last.
	Last bool
}

// NewAccount is the page on which a person makes a further account.
type NewAccount struct {
	layout.Frame
	Name   string
	Errors Errors
	// Closed tells that they may not: sign-up is closed here.
	Closed bool
}
