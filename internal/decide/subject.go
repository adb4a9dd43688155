package decide

import (
	"context"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// endWithoutSubject ends events of single-fire types that have no subject:
// without one nobody could say which of them are the same fact. What a paused
// source holds is asked when it is resumed.
//
// The types are read in the transaction that decides: a type that becomes
// single-fire is so from the next decision on, whatever accepted the event
// believed.
func endWithoutSubject(ctx context.Context, tx store.Tx, events []store.Undecided, paused map[gateway.SourceID]bool, ended verdicts) error {
	asks := func(e store.Undecided) bool {
		_, over := ended[e.ID]
		return e.Subject == "" && !over && !paused[e.SourceID]
	}
	var refs []store.TypeRef
	for _, e := range events {
		if asks(e) {
			refs = append(refs, store.TypeRef{AccountID: e.AccountID, Type: e.Type})
		}
	}
	once, err := tx.SingleFireAmong(ctx, refs)
	if err != nil {
		return err
	}
	for _, e := range events {
		if _, single := once[store.TypeRef{AccountID: e.AccountID, Type: e.Type}]; single && asks(e) {
			ended[e.ID] = verdict{
				status: gateway.EventRuleError,
				reason: "subject_required: " + e.Type + " reaches an endpoint once for each subject, and this event has no subject. " +
					"Give it one, or declare the type as one that repeats, and process the event again.",
			}
		}
	}
	return nil
}
