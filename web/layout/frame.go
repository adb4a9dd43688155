// Package layout draws what stands around every page: the document's head, the
// navigation, who is logged in, the message of the last action.
package layout

import (
	"strconv"
	"strings"
	"time"
)

// Product is what the product is called in titles.
const Product = "Rowlock"

// Frame is what stands around a page. Every page's view holds one.
type Frame struct {
	// Title stands in the browser's tab, before the product's name.
	Title string
	// Section is the navigation's current entry, one of the Section constants.
	Section string
	// Theme is "light", "dark", or empty for the system's.
	Theme string
	// KeysOff tells that single-key shortcuts are off.
	KeysOff bool
	// Here is the address of this page, path and query, for forms that come
	// back to it.
	Here string
	// Person is who is logged in.
	Person Person
	// Account is the account that the page belongs to; zero outside of any.
	Account Account
	// Accounts are those that the switcher offers.
	Accounts []Account
	// Failed is how many failed deliveries the navigation counts, and
	// FailedMore that there are more.
	Failed     int
	FailedMore bool
	// Stuck is how many claims need somebody, and StuckMore that there are more.
	Stuck     int
	StuckMore bool
	// Toast is the message of the last action; nil is none.
	Toast *Toast
	// Live makes the page listen for hints; nil does not.
	Live *Live
}

// Person is who is logged in.
type Person struct {
	Name, Email string
	// InstanceOwner shows the pages of the instance.
	InstanceOwner bool
}

// Account is one tenant, as the navigation shows it.
type Account struct {
	Name string
	// Path is where its pages are, such as /a/acme, without a slash at the end.
	Path string
	// Role is the person's role, in words.
	Role string
	// Audit tells that the audit log is for them.
	Audit bool
	// DeleteAt is from when on it is deleted; nil: it is not to be. Restore is
	// where that is taken back; empty for who may not.
	DeleteAt *time.Time
	Restore  string
}

// Toast is a message about what was just done.
type Toast struct {
	// Tone is "ok" or "bad".
	Tone string
	Text string
}

// Live is the stream of hints that a page listens to.
type Live struct {
	// Stream is the stream's address.
	Stream string
	// Since is the point up to which the page shows everything.
	Since string
}

// The sections of the navigation.
const (
	SectionOverview   = "overview"
	SectionEvents     = "events"
	SectionFailures   = "failures"
	SectionSources    = "sources"
	SectionEventTypes = "event-types"
	SectionFacts      = "facts"
	SectionClaims     = "claims"
	SectionEndpoints  = "endpoints"
	SectionDeliveries = "deliveries"
	SectionOperations = "operations"
	SectionUsage      = "usage"
	SectionReconcile  = "reconcile"
	SectionKeys       = "keys"
	SectionSettings   = "settings"
	SectionAccounts   = "instance-accounts"
	SectionLanes      = "instance-lanes"
	SectionStorage    = "instance-storage"
	SectionMail       = "instance-mail"
	SectionInstance   = "instance-settings"
	SectionAudit      = "audit"
	SectionOwnAudit   = "instance-audit"
)

// entry is a line of the navigation.
type entry struct {
	section, label, icon, href string
	// key follows g on the keyboard.
	key string
}

// group is some entries under a label.
type group struct {
	label   string
	entries []entry
}

// navigation lists the sections that this page's reader can go to.
func (f Frame) navigation() []group {
	var groups []group
	if at := f.Account.Path; at != "" {
		groups = append(groups,
			group{"", []entry{
				{SectionOverview, "Overview", "layout-dashboard", at, "o"},
				{SectionEvents, "Events", "activity", at + "/events", "e"},
				{SectionFailures, "Failures", "triangle-alert", at + "/failures", "f"},
			}},
			group{"Receive", []entry{
				{SectionSources, "Sources", "arrow-down-to-line", at + "/sources", "s"},
				{SectionEventTypes, "Event types", "tag", at + "/event-types", "t"},
				{SectionFacts, "Facts", "bookmark", at + "/facts", "a"},
				{SectionClaims, "Claims", "lock-keyhole", at + "/claims", "c"},
				{SectionReconcile, "Reconcile", "git-compare", at + "/reconcile", "r"},
			}},
			group{"Deliver", []entry{
				{SectionEndpoints, "Endpoints", "webhook", at + "/endpoints", "n"},
				{SectionDeliveries, "Deliveries", "send", at + "/deliveries", "d"},
				{SectionOperations, "Operations", "refresh-cw", at + "/operations", "b"},
			}},
			group{"Account", f.accountEntries()},
		)
	}
	if f.Person.InstanceOwner {
		groups = append(groups, group{"Instance", []entry{
			{SectionAccounts, "Accounts", "building-2", "/instance/accounts", ""},
			{SectionLanes, "Lanes and jobs", "gauge", "/instance/lanes", ""},
			{SectionStorage, "Storage", "database", "/instance/storage", ""},
			{SectionMail, "Mail", "mail", "/instance/mail", ""},
			{SectionInstance, "Limits", "sliders-horizontal", "/instance/settings", ""},
			{SectionOwnAudit, "Audit log", "scroll-text", "/instance/audit", ""},
		}})
	}
	return groups
}

// accountEntries are the sections about the account itself.
func (f Frame) accountEntries() []entry {
	at := f.Account.Path
	entries := []entry{{SectionUsage, "Usage", "hash", at + "/usage", "u"}}
	if f.Account.Audit {
		entries = append(entries, entry{SectionAudit, "Audit log", "scroll-text", at + "/audit", "l"})
	}
	return append(entries,
		entry{SectionKeys, "API keys", "key-round", at + "/settings/keys", "k"},
		entry{SectionSettings, "Settings", "settings", at + "/settings", ""},
	)
}

// documentTitle is what the browser's tab says.
func (f Frame) documentTitle() string {
	if f.Account.Name == "" {
		return f.Title + " · " + Product
	}
	return f.Title + " · " + f.Account.Name + " · " + Product
}

// home is where the product's name leads.
func (f Frame) home() string {
	if f.Account.Path == "" {
		return "/accounts"
	}
	return f.Account.Path
}

// nextTheme is what the theme's button changes to: system, light, dark, and
// from the beginning.
func (f Frame) nextTheme() string {
	switch f.Theme {
	case "":
		return "light"
	case "light":
		return "dark"
	default:
		return "system"
	}
}

// themeName is the theme in words.
func (f Frame) themeName() string {
	if f.Theme == "" {
		return "system"
	}
	return f.Theme
}

// hereOrRoot is where a form of the frame comes back to.
func (f Frame) hereOrRoot() string {
	if !strings.HasPrefix(f.Here, "/") {
		return "/"
	}
	return f.Here
}

// countedUpTo is a number, "99+" if there are more.
func countedUpTo(n int, more bool) string {
	if more {
		return strconv.Itoa(n) + "+"
	}
	return strconv.Itoa(n)
}
