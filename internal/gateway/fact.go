package gateway

import (
	"fmt"
	"slices"
	"time"
)

// Fact is what is known of a subject: the state that was told of it last.
type Fact struct {
	ID        FactID
	AccountID AccountID
	SourceID  SourceID
	Subject   string
	State     string
	// Rank is the state's place in the rule's order; nil where it had none.
	Rank *int
	// Terminal tells that nothing more is told of the subject.
	Terminal bool
	// Seen are the states that were told, in the order in which they came; the
	// newest MaxSeen of them.
	Seen []string
	// EventID is the event that set the state.
	EventID   EventID
	CreatedAt time.Time
	UpdatedAt time.Time
}

// MaxSeen is how many states of a subject are remembered.
const MaxSeen = 1000

// Report is what an event says of a subject, under a rule.
type Report struct {
	State    string
	Rank     *int
	Terminal bool
	// Repeats tells that the rule lets a state be told again.
	Repeats bool
}

// Report makes a report of a state under the rule.
func (r *Rule) Report(state string) Report {
	return Report{State: state, Rank: r.RankOf(state), Terminal: r.IsTerminal(state), Repeats: r.Repeats}
}

// Judge says what the guard of facts makes of a report: EventProcessed where it
// is new, else EventDuplicateFact or EventStaleFact. It is for who asks what
// would happen: what does happen is for the guard alone to say. A nil fact is a
// subject of which nothing was told.
func (f *Fact) Judge(r Report) EventStatus {
	switch {
	case f == nil:
		return EventProcessed
	case !f.Terminal && (r.Repeats || !slices.Contains(f.Seen, r.State)) && f.ranks(r):
		return EventProcessed
	case slices.Contains(f.Seen, r.State):
		return EventDuplicateFact
	default:
		return EventStaleFact
	}
}

// ranks tells that a report does not lead back in the order.
func (f *Fact) ranks(r Report) bool {
	return r.Rank == nil || f.Rank == nil || *r.Rank > *f.Rank || r.Repeats && *r.Rank == *f.Rank
}

// Refusal says in words why a report that was refused tells nothing new.
func (f *Fact) Refusal(status EventStatus, state string) string {
	switch {
	case status == EventDuplicateFact:
		return fmt.Sprintf("that %s is %s was told before", f.Subject, state)
	case f.Terminal:
		return fmt.Sprintf("the last word on %s is %s, by %s: %s comes too late", f.Subject, f.State, f.EventID, state)
	default:
		return fmt.Sprintf("the state of %s is %s, by %s: %s comes before that", f.Subject, f.State, f.EventID, state)
	}
}

// FactWaits is for how long an event waits for its subject, each time that it
// is not there; then it is unresolved.
var FactWaits = []time.Duration{time.Second, 5 * time.Second, 30 * time.Second, 5 * time.Minute, 30 * time.Minute}
