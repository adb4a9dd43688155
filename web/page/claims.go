package page

import (
	"time"

	"github.com/a-h/templ"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/layout"
)

// StateLeaseEnded is shown of a claim that somebody holds and whose lease has
// ended.
const StateLeaseEnded = "lease_ended"

// ClaimState is a claim's state as pages show it.
func ClaimState(c gateway.Claim, now time.Time) string {
	if c.IsStuck(now) {
		return StateLeaseEnded
	}
	return string(c.State)
}

// Claims is the ledger of what is done once.
type Claims struct {
	layout.Frame

	Now  time.Time
	Path string
	// Views are the states to choose from, View the one that goes with the form;
	// empty for all.
	Views []component.Choice
	View  string
	// Query is what was searched for, and Answer what is known of it.
	Query  string
	Answer *ClaimAnswer
	// Scopes are the choices of a filter, ScopeText what is chosen.
	Scopes    []component.Option
	ScopeText string
	Rows      []ClaimRow
	// Reclaim asks before what has ended is freed; empty for who may not.
	Reclaim string
	// ReclaimAll asks about all that has ended and matches, Ended are so many, and
	// EndedMore tells that there are more.
	ReclaimAll string
	Ended      int
	EndedMore  bool
	Work       []ScopeWork
	// WorkMore tells that only the first scopes were looked at.
	WorkMore      bool
	Newest, Older string
	Filtered      bool
	Clear         string
	// None tells that there is none at all; Example claims the first.
	None    bool
	Example string
}

// ClaimRow is a claim as a line of a list.
type ClaimRow struct {
	ID, Href string
	// State is as ClaimState tells it.
	State string
	// Key is what is to be done once; of a single-fire claim what the fact is
	// about, and Type what it is.
	Key, Type string
	// Scope is what the key is for: the endpoint's name, and ScopeHref its page,
	// of a single-fire claim.
	Scope, ScopeHref string
	// Holder is who holds it or held it last; HolderHref leads to the delivery.
	Holder, HolderHref string
	ClaimedAt          time.Time
	LeaseExpiresAt     time.Time
	// Waiting is how many deliveries wait for it, in words; empty for none.
	Waiting string
	// Reclaim asks before it is freed; empty where it cannot be.
	Reclaim string
}

// isLive tells that somebody holds it.
func (r ClaimRow) isLive() bool { return r.State == string(gateway.ClaimInProgress) }

func (r ClaimRow) isStuck() bool { return r.State == StateLeaseEnded }

// isOpen tells that its state may change by itself, or by whoever claims it.
func (r ClaimRow) isOpen() bool { return r.State != string(gateway.ClaimDone) }

// label names a row for who cannot see it.
func (r ClaimRow) label() string { return r.Key + " of " + r.Scope }

// leaseTone colours what is left of a lease: little of it is a warning.
func leaseTone(left, granted time.Duration) component.Tone {
	const little = 3 // a third
	if left < granted/little {
		return component.ToneWarn
	}
	return ""
}

// ScopeWork is how long completed work under a scope took, beside its lease.
type ScopeWork struct {
	Scope, Href string
	// N is how many were looked at, in words.
	N           string
	Median, P95 time.Duration
	Lease       time.Duration
}

// near tells that one of twenty comes near the end of its lease: four fifths.
func (w ScopeWork) near() bool { return w.P95 >= w.Lease/5*4 }

// anyNear tells that one of the scopes has too short a lease.
func anyNear(work []ScopeWork) bool {
	for _, w := range work {
		if w.near() {
			return true
		}
	}
	return false
}

// ClaimAnswer says what is known of a key or a subject.
type ClaimAnswer struct {
	// Claims are those of that key or about that subject, in words.
	Claims []ClaimTold
	// More tells that there are others, which the list shows.
	More bool
	// Events is the list of events about it, where nothing was claimed and there
	// are some; empty for none.
	Events string
}

// ClaimTold is one claim in words.
type ClaimTold struct {
	component.Callout

	// Href is the claim's page.
	Href string
	// Delivery is the delivery that holds it or held it last; empty for none.
	Delivery, DeliveryHref string
}

// selectable tells that a row can be chosen.
func (v Claims) selectable() bool {
	if v.Reclaim == "" {
		return false
	}
	for _, row := range v.Rows {
		if row.isStuck() {
			return true
		}
	}
	return false
}

// endedText says how many can be freed.
func (v Claims) endedText() string {
	if v.EndedMore {
		return component.Number(v.Ended) + "+"
	}
	return component.Number(v.Ended)
}

// allEndedText offers them instead of what is chosen.
func (v Claims) allEndedText() string {
	if v.Ended == 0 {
		return ""
	}
	return "all " + v.endedText() + " whose lease has ended"
}

// changing marks a part that changes with the ledger, so that the page's script
// reads it anew. It needs an id.
func changing(open bool) templ.Attributes {
	if !open {
		return nil
	}
	return templ.Attributes{"data-live-refresh": "claims ledger"}
}
