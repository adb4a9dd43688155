package page

import (
	"slices"
	"strings"
	"time"

	"github.com/a-h/templ"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/layout"
)

// Settings is the page of what an account is.
type Settings struct {
	layout.Frame

	Now    time.Time
	Tenant gateway.Account
	// Name is what was entered as its name.
	Name string
	// Role is the reader's.
	Role gateway.Role
	// Manages tells that the reader may change it.
	Manages bool
	// Delete leads to the question whether to delete the account; empty for who
	// may not, and where it is to be deleted already.
	Delete string
	Errors Errors
}

// DeleteAccount asks whether an account shall be deleted.
type DeleteAccount struct {
	Action, Cancel string
	// Account is the account's name, Entered what was typed for it.
	Account, Entered string
	// DeleteAt is when it would be.
	DeleteAt time.Time
	Heading  bool
	Errors   Errors
}

// Keys is the page of an account's API keys.
type Keys struct {
	layout.Frame

	Now  time.Time
	Rows []KeyRow
	// New is the key that was just made, with its text, which is shown once;
	// nil for none.
	New     *NewKey
	Manages bool
	// Newest and Older lead through the list; empty where there is nothing.
	Newest, Older string
}

// NewKey is a key that was just made.
type NewKey struct{ Name, Text string }

// KeyRow is one API key.
type KeyRow struct {
	ID     gateway.KeyID
	Path   string
	Name   string
	Hint   string
	Scopes []gateway.Scope
	// PerSecond is its own limit; nil is the server's.
	PerSecond *int
	CreatedAt time.Time
	EndsAt    *time.Time
	// Ended tells that it is good for nothing any more, and Soon that it will be
	// before long.
	Ended, Soon bool
	// Networks are those that it may be used from; none: from anywhere.
	Networks []string
	// LastUsedAt is when it was used last, and LastUsedFrom from which address;
	// nil: never.
	LastUsedAt   *time.Time
	LastUsedFrom string
}

// soon are the names of the keys that end before long.
func (v Keys) soon() (names []string) {
	for _, row := range v.Rows {
		if row.Soon {
			names = append(names, "“"+row.Name+"”")
		}
	}
	return names
}

// soonTitle says that keys end before long.
func (v Keys) soonTitle() string {
	if n := len(v.soon()); n > 1 {
		return component.Number(n) + " keys expire within 7 days"
	}
	return v.soon()[0] + " expires within 7 days"
}

// networksTitle lists the networks that do not fit.
func (r KeyRow) networksTitle() string { return strings.Join(r.Networks, ", ") }

// KeyForm is what is asked for a new API key.
type KeyForm struct {
	// Path is the page of keys.
	Path string
	Name string
	// Scopes are those that are chosen.
	Scopes []string
	// Ends is in days; empty is never.
	Ends      string
	PerSecond string
	// Addresses are networks, as they were typed in.
	Addresses string
	// Heading tells that it is a page of its own.
	Heading bool
	Errors  Errors
}

// scopeWords say what a scope allows.
var scopeWords = map[gateway.Scope]struct{ name, note string }{
	gateway.ScopePublish: {"Publish", "Send events in. It sees nothing."},
	gateway.ScopeRead:    {"Read", "See events, deliveries, endpoints and sources, but no secrets."},
	gateway.ScopeManage:  {"Manage", "Change endpoints, sources and keys, redeliver, and see signing secrets."},
}

// keyLives are how long a key can live, in days.
var keyLives = []component.Option{
	{Value: "90", Label: "90 days"},
	{Value: "30", Label: "30 days"},
	{Value: "365", Label: "1 year"},
	{Value: KeyLivesOn, Label: "Never"},
}

// settingsTabs are the parts of the settings.
func settingsTabs(account, section string) []component.Choice {
	return []component.Choice{
		{Text: "General", Href: account + "/settings", Current: section == layout.SectionSettings},
		{Text: "Members", Href: account + "/settings/members", Current: section == tabMembers},
		{Text: "Alerts", Href: account + "/settings/alerts", Current: section == tabAlerts},
		{Text: "API keys", Href: account + "/settings/keys", Current: section == layout.SectionKeys},
		{Text: "Retention and limits", Href: account + "/settings/retention", Current: section == tabRetention},
		{Text: "Export and import", Href: account + "/settings/configuration", Current: section == tabConfiguration},
	}
}

// nameHint says what a name is for, or who may change it.
func (v Settings) nameHint() string {
	if v.Account.DeleteAt != nil {
		return "It can be changed once the account is restored."
	}
	if !v.Manages {
		return "An admin or an owner of the account can change it."
	}
	return "What people see. The address stays as it is."
}

func (f KeyForm) scopesAttrs() templ.Attributes {
	if f.Errors["scopes"] == "" {
		return nil
	}
	return templ.Attributes{"aria-describedby": "scopes-error", "aria-invalid": "true", "tabindex": "-1"}
}

// KeyLivesOn is the choice of a key that does not end by itself.
const KeyLivesOn = "never"

// IsKeyLife tells whether this is one of the times that the form offers.
func IsKeyLife(chosen string) bool {
	return slices.ContainsFunc(keyLives, func(o component.Option) bool { return o.Value == chosen })
}
