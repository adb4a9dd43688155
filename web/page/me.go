package page

import (
	"time"

	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/layout"
)

// Profile is the page of a person's name and address.
type Profile struct {
	layout.Frame
	Name, Email string
	Errors      Errors
}

// Security is the page of a person's password and sessions.
type Security struct {
	layout.Frame
	Sessions []SessionRow
	Errors   Errors
	Now      time.Time
}

// SessionRow is one log-in of the person.
type SessionRow struct {
	// Device is what it is, in words: "Firefox on macOS".
	Device string
	// Phone tells that it is one.
	Phone   bool
	Address string
	// SeenAt is when it was last used, StartedAt when they logged in.
	SeenAt, StartedAt time.Time
	// This marks the one that the page is shown in.
	This bool
	// EndAction is where the form that ends it is posted.
	EndAction string
}

// others is how many sessions there are beside this one.
func (v Security) others() int {
	n := 0
	for _, s := range v.Sessions {
		if !s.This {
			n++
		}
	}
	return n
}

// EndOthers asks whether every other session shall end.
type EndOthers struct {
	// Others is how many these are.
	Others int
	// Heading is true on a page of its own.
	Heading bool
}

// Appearance is the page of how pages look in this browser.
type Appearance struct {
	layout.Frame
	// Chosen is "system", "light" or "dark".
	Chosen string
	// Keys tells that single-key shortcuts are on.
	Keys bool
}

// themes are the choices of a theme.
func (v Appearance) themes() []component.Option {
	options := []component.Option{
		{Value: "system", Label: "System", Hint: "As your device is set"},
		{Value: "light", Label: "Light", Hint: "Dark text on white"},
		{Value: "dark", Label: "Dark", Hint: "Light text on black"},
	}
	for i := range options {
		options[i].Selected = options[i].Value == v.Chosen
	}
	return options
}

// meTabs are the pages about oneself.
func meTabs(current string) []component.Choice {
	tabs := []component.Choice{
		{Text: "Profile", Href: "/me/profile"},
		{Text: "Password and sessions", Href: "/me/security"},
		{Text: "Two-step log-in", Href: "/me/two-step"},
		{Text: "Appearance", Href: "/me/appearance"},
	}
	for i := range tabs {
		tabs[i].Current = tabs[i].Href == current
	}
	return tabs
}
