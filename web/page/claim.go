package page

import (
	"time"

	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/layout"
)

// Claim is one key of the ledger, with everybody who held it.
type Claim struct {
	layout.Frame

	Now time.Time
	// Path is the page's address, List that of all claims.
	Path, List string
	ID, Key    string
	// State is as ClaimState tells it.
	State string
	// Type and Subject are those of a single-fire claim, and OnDoubt what happens
	// when nobody knows how it went; empty in the ledger.
	Type, Subject, OnDoubt string
	// Scope is what the key is for: the endpoint's name, and ScopeHref its page,
	// of a single-fire claim; else ScopeHref lists the scope's claims.
	Scope, ScopeHref          string
	Holder, HolderHref        string
	Fence                     int64
	ClaimedAt, LeaseExpiresAt time.Time
	EndedAt                   *time.Time
	// Waiting is how many deliveries wait for it, in words; empty for none.
	Waiting string
	// Note says what the state means, and what to do.
	Note component.Callout
	// Holds are its holders, the newest first; HoldsMore tells that there were
	// others before.
	Holds     []ClaimHold
	HoldsMore bool
	// Result is what was kept with it; nil for nothing.
	Result []byte
	// Deliveries are those of a single-fire fact, the newest first, and
	// AllDeliveries lists all of them.
	Deliveries    []ClaimDelivery
	AllDeliveries string
	// Attempts are the newest of these deliveries.
	Attempts []Attempt
	// Reclaim and Resolve ask before a person steps in; empty where that makes no
	// sense, or for who may not.
	Reclaim, Resolve string
}

// title is what the page is called: the key, or what a fact is about.
func (v Claim) title() string {
	if v.Subject != "" {
		return component.Shorten(v.Subject, maxShownKey)
	}
	return component.Shorten(v.Key, maxShownKey)
}

// ClaimHold is one holder's time with a claim.
type ClaimHold struct {
	Fence                     int64
	Holder, HolderHref        string
	ClaimedAt, LeaseExpiresAt time.Time
	// EndedAt is when it ended, if its holder or a person ended it, and Ended how.
	EndedAt *time.Time
	Ended   string
	// Tone colours how it ended.
	Tone component.Tone
	// Why is what a person gave as the reason.
	Why string
}

// ClaimDelivery is a delivery of a single-fire fact.
type ClaimDelivery struct {
	ID, Href string
	Status   string
	// Role says what it is to the claim: "holds it", "waits"; empty for neither.
	Role       string
	Event      string
	EventHref  string
	Code       int
	Failure    string
	Tone       component.Tone
	Attempts   int
	ReceivedAt time.Time
	Endpoint   string
	NextAt     *time.Time
	Deleted    bool
}

// ClaimQuestion asks before a person steps in.
type ClaimQuestion struct {
	// Action is where the answer is posted, Cancel the page to go back to.
	Action, Cancel string
	// Title says what is asked, Submit is the button.
	Title, Submit string
	// Text is what will happen.
	Text []string
	// Warning is what may go wrong; empty for nothing.
	Warning, WarningText string
	// Word has to be typed; empty for none.
	Word, EnteredWord string
	// Entered is the reason that was given.
	Entered string
	// Hidden are fields that go with the form: what is asked about.
	Hidden []component.Option
	Errors Errors
	// Refused says why it cannot be done; empty when it can.
	Refused string
	Heading bool
	// Danger tells that work may be done twice, or never.
	Danger bool
}

func (q ClaimQuestion) submit() component.Button {
	b := component.Button{Label: q.Submit, Disabled: q.Refused != ""}
	if q.Danger {
		b.Variant = component.Danger
	}
	return b
}
