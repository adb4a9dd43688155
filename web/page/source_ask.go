package page

import (
	"slices"
	"time"

	"github.com/rowlock/rowlock/web/component"
)

// SourceAsk is a question about a source.
type SourceAsk struct {
	Source SourceHead
	// Heading tells that the question is a page of its own.
	Heading bool
	Now     time.Time
	// Older is when a secret ends that is in its overlap already; nil for none.
	Older *time.Time
	// Chosen is what was entered before.
	Chosen string
	Errors Errors
}

// overlaps are how long a secret can outlive the next one.
var overlaps = []component.Option{
	{Value: "24h", Label: "24 hours"},
	{Value: "1h", Label: "1 hour"},
	{Value: "168h", Label: "7 days"},
	{Value: "720h", Label: "30 days"},
	{Value: "0s", Label: "Not at all: it has leaked"},
}

// IsOverlap tells whether this is one of the times that the form offers.
func IsOverlap(chosen string) bool {
	return slices.ContainsFunc(overlaps, func(o component.Option) bool { return o.Value == chosen })
}

// extensions are how long a secret that is about to end can go on, from now.
var extensions = overlaps[:len(overlaps)-1]

// IsExtension tells whether this is one of the times that the form to extend a
// secret offers.
func IsExtension(chosen string) bool {
	return slices.ContainsFunc(extensions, func(o component.Option) bool { return o.Value == chosen })
}

// ExtensionBeyond is the first of them, at first a day, that is longer than what
// is left by more than a moment; the longest if none is.
func ExtensionBeyond(left time.Duration) string {
	for _, d := range []string{"24h", "168h"} {
		if long, err := time.ParseDuration(d); err == nil && long > left+time.Hour {
			return d
		}
	}
	return "720h"
}

// secretHint says where the secret comes from, and after a mistake elsewhere
// that it has to be entered once more.
func (a SourceAsk) secretHint() string {
	if a.Errors.Any() && a.Errors["secret"] == "" {
		return "Enter it again: it is not kept while something else is wrong."
	}
	if k := a.Source.Kind; k.Captured {
		return k.Name + " sends it to the ingest URL by itself: “Take the next secret” is on the source’s page. Paste one here only if you have it from elsewhere."
	}
	return a.Source.Kind.SecretFrom
}

// title asks for the first secret, or for another one.
func (a SourceAsk) title() string {
	if a.Source.Bereft {
		return "Paste the " + a.Source.Kind.noun() + " of “" + a.Source.Name + "”"
	}
	return "Change " + a.Source.Kind.noun() + " of “" + a.Source.Name + "”"
}

func (a SourceAsk) submit() string {
	if a.Source.Bereft {
		return "Save " + a.Source.Kind.noun()
	}
	return "Change " + a.Source.Kind.noun()
}
