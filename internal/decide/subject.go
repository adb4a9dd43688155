package decide

import (
	"context"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// withSubject parts the events of single-fire types that have no subject from
// those that can be sent. What a paused source holds is asked when it is
// resumed.
//
// The types are read in the transaction that decides: a type that becomes
// single-fire is so from the next decision on, whatever accepted the event
// believed.
func withSubject(ctx context.Context, tx store.Tx, events []store.Undecided, paused map[gateway.SourceID]bool) (sendable, lacking []store.Undecided, err error) {
	var refs []store.TypeRef
	for _, e := range events {
		if e.Subject == nil && !paused[e.SourceID] {
			refs = append(refs, store.TypeRef{AccountID: e.AccountID, Type: e.Type})
		}
	}
	once, err := tx.SingleFireAmong(ctx, refs)
	if err != nil || len(once) == 0 {
		return events, nil, err
	}
	for _, e := range events {
		_, single := once[store.TypeRef{AccountID: e.AccountID, Type: e.Type}]
		if single && e.Subject == nil && !paused[e.SourceID] {
			lacking = append(lacking, e)
			continue
		}
		sendable = append(sendable, e)
	}
	return sendable, lacking, nil
}

// refuse ends events that lack a subject: without one nobody could say which of
// them are the same fact.
func (p *planned) refuse(lacking []store.Undecided) {
	for _, e := range lacking {
		p.count(e)
		p.decisions = append(p.decisions, store.Decision{
			ID: e.ID, Status: gateway.EventRuleError,
			Reason: "subject_required: " + e.Type + " reaches an endpoint once for each subject, and this event has no subject. " +
				"Give it one, or declare the type as one that repeats, and process the event again.",
		})
	}
}
