package page

import (
	"time"

	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/layout"
)

// Audit is the page of the audit log.
type Audit struct {
	layout.Frame

	// Title and Lede say whose log it is.
	Title, Lede string
	Now         time.Time
	Path        string
	// Object is the id that was looked for; empty for all.
	Object string
	// Actors, Areas and Outcomes are the choices of the filters, each with what is
	// chosen in words.
	Actors, Areas, Outcomes          []component.Option
	ActorText, AreaText, OutcomeText string
	Period                           Period
	Wider                            component.Choice
	Rows                             []AuditRow
	Newest, Older                    string
	Filtered                         bool
	Clear                            string
	// CSV and NDJSON are the export of all that matches.
	CSV, NDJSON string
}

// AuditRow is an entry as a line of the list.
type AuditRow struct {
	ID string
	// Who did it; Key tells that it is an API key, and Rowlock that nobody did.
	Who          string
	Key, Rowlock bool
	// Did is the deed in words, What what it was done to, and Href its page;
	// empty for none.
	Did, What, Href string
	// Detail is what is to be known besides, where What does not tell it.
	Detail  string
	Area    string
	Refused bool
	// Address and Agent tell from where, Client in words what the agent is; all are
	// empty where Rowlock did it by itself.
	Address, Agent, Client string
	At                     time.Time
}

// none tells what stands there without a line.
func (v Audit) none() noMatch {
	return noMatch{title: "Nothing was done that matches", period: v.Period, wider: v.Wider, filtered: v.Filtered, clear: v.Clear}
}
