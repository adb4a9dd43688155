package page

import (
	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/layout"
)

// Catalogue is the page on which the kind of a new source is chosen.
type Catalogue struct {
	layout.Frame

	// Search is what was looked for; Groups are the kinds that it found.
	Search string
	Groups []KindGroup
	// All is how many kinds there are.
	All int
}

func (v Catalogue) path() string { return v.Account.Path + "/sources/new" }

// anySender leads to the kinds that belong to no service.
func (v Catalogue) anySender() string { return v.path() + "?q=any+sender" }

// found says how many kinds were found.
func (v Catalogue) found() string {
	n := 0
	for _, group := range v.Groups {
		n += len(group.Kinds)
	}
	switch n {
	case 0:
		return "Nothing found."
	case 1:
		return "1 kind found."
	default:
		return component.Number(n) + " kinds found."
	}
}

func (v Catalogue) placeholder() string {
	return "Search " + component.Number(v.All) + " kinds, such as Stripe or payment"
}
