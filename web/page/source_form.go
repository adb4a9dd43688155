package page

import (
	"slices"
	"strings"

	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/layout"
)

// SourceForm is the page on which a source is made or changed.
type SourceForm struct {
	layout.Frame

	// Path is the source's page; empty for one that is made.
	Path string
	Kind SourceKind
	// Chosen is what was entered, by the names of the fields.
	Chosen map[string]string
	// Protects says what a signature covers.
	Protects string
	// Generated is a secret that was made up for the form, to be copied; "" for
	// none.
	Generated string
	// Unfold shows what is rarely needed.
	Unfold bool
	Errors Errors
}

// IsNew tells that the source is about to be made.
func (f SourceForm) IsNew() bool { return f.Path == "" }

// heading is the form's title.
func (f SourceForm) heading() string {
	switch {
	case !f.IsNew():
		return "Edit source"
	case f.Kind.Service:
		return "Add " + f.Kind.Name + " source"
	default:
		return "Add source: " + f.Kind.Name
	}
}

func (f SourceForm) crumbs() []component.Crumb {
	way := []component.Crumb{{Text: "Sources", Href: f.Account.Path + "/sources"}}
	if f.IsNew() {
		return append(way, component.Crumb{Text: "Add source"})
	}
	return append(way, component.Crumb{Text: f.Title, Href: f.Path}, component.Crumb{Text: "Edit"})
}

// action is where the form is posted.
func (f SourceForm) action() string {
	if f.IsNew() {
		return f.Account.Path + "/sources/new"
	}
	return f.Path + "/edit"
}

func (f SourceForm) cancel() string {
	if f.IsNew() {
		return f.Account.Path + "/sources"
	}
	return f.Path
}

func (f SourceForm) submit() string {
	if f.IsNew() {
		return "Add source"
	}
	return "Save changes"
}

// secretHint says where the secret comes from, and after a mistake that it has
// to be entered once more.
func (f SourceForm) secretHint() string {
	if f.Errors.Any() && f.Errors["secret"] == "" {
		return "Enter it again: it is not kept while something else is wrong."
	}
	return f.Kind.SecretFrom
}

// sender is where the secret is entered too.
func (f SourceForm) sender() string {
	if f.Kind.Service {
		return f.Kind.Name
	}
	return "the sender"
}

// advancedOpen shows what is rarely needed when it holds something.
func (f SourceForm) advancedOpen() bool {
	return f.Unfold || f.anyOf("tolerance", "rate_limit", "allowed_ips", "replay_guard", "uid") || !f.Kind.URLSigned && f.anyOf("public_url")
}

// anyOf tells whether one of the fields holds something, or is wrong.
func (f SourceForm) anyOf(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return f.Chosen[name] != "" || f.Errors[name] != "" })
}

// options marks the chosen one; the first is chosen where nothing else is.
func options(chosen string, all ...component.Option) []component.Option {
	all = slices.Clone(all)
	for i := range all {
		all[i].Selected = all[i].Value == chosen || chosen == "" && i == 0
	}
	return all
}

// picked are a setting's choices with those marked that are chosen.
func (f SourceForm) picked(s KindSetting) []component.Option {
	if !s.Many {
		return options(f.Chosen[s.Name], s.options()...)
	}
	all, chosen := s.options(), strings.Split(f.Chosen[s.Name], "\n")
	for i := range all {
		all[i].Selected = slices.Contains(chosen, all[i].Value)
	}
	return all
}

// laterHint says what it means to have no secret yet.
func (f SourceForm) laterHint() string {
	return "The source is made without it, and refuses every request until you paste it."
}

func (f SourceForm) publicURLHint() string {
	if f.Kind.has("signed") {
		return "Needed only if {url} is signed and the ingest URL is not the address that the sender calls: enter it as it does, a query included."
	}
	if f.Kind.URLSigned {
		return "The address is signed: enter it as the sender calls it, if that is not the ingest URL. Leave a query out unless the sender signs a fixed one: it is used as it stands, and the path and query of a request are not signed then."
	}
	return "The address as the sender calls it, if a proxy changes it. Left empty: the ingest URL."
}

func (f SourceForm) replayHint() string {
	hint := "For how long a body that was taken in is refused under another ID: 1s to 72h. Left empty: not at all, since equal bodies can be honest."
	switch {
	case f.Kind.Bare:
		hint = "Nothing is signed, so that a recorded request could be sent again under another ID. " + hint
	case f.Kind.has("signed"):
		hint = "If {id} is not signed, a recorded request could be sent again under another. " + hint
	case !f.Kind.KeySigned && f.Kind.Secret != "":
		hint = "The signature does not cover the event’s ID, so that a recorded request could be sent again under another. " + hint
	}
	return hint
}
