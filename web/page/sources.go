package page

import (
	"time"

	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/layout"
)

// Sources is the page of an account's sources.
type Sources struct {
	layout.Frame

	Now  time.Time
	Rows []SourceRow
	// Kinds are those that are added most.
	Kinds []SourceKind
	// AllKinds is how many there are in all.
	AllKinds int
	// Manages tells that the reader may add one.
	Manages bool
	// Newest and Older lead through the list; empty where there is nothing.
	Newest, Older string
}

// SourceRow is one source in the list.
type SourceRow struct {
	SourceHead

	Counts SourceCounts
}

// onlyBuiltIn tells that nobody has added a source yet.
func (v Sources) onlyBuiltIn() bool {
	return len(v.Rows) == 1 && v.Rows[0].BuiltIn()
}

// rejectedText says how many requests were refused: "17 wrong signature".
func (r SourceRow) rejectedText() string {
	if c := r.Counts.Rejected; len(c) == 1 {
		return component.Number(c[0].N) + " " + lowerFirst(r.Kind.CauseWord(c[0].Cause))
	}
	return component.Number(r.Counts.RejectedTotal()) + " rejected"
}

// rejectedHref leads to the refused requests: to those of the one cause, if
// there is one alone.
func (r SourceRow) rejectedHref() string {
	if len(r.Counts.Rejected) == 1 {
		return r.Path + "?cause=" + r.Counts.Rejected[0].Cause
	}
	return r.Path
}
