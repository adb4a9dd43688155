package reconcile

import (
	"context"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// judgeTheirs judges a batch of the partner's rows that nothing of ours matched:
// the same stands further up, or we do not know it. Behind the last row the
// reconciliation is done.
func (r *runner) judgeTheirs(ctx context.Context) error {
	upTo := min(r.run.RowCursor+judgedAtOnce, r.run.LastRow)
	rows, err := r.Store.OpenRows(ctx, r.run.AccountID, r.run, upTo)
	if err != nil {
		return err
	}
	judged, err := r.judge(ctx, rows)
	if err != nil {
		return err
	}
	return r.change(ctx, func(tx store.Tx, step *store.ReconciliationStep) error {
		step.RowCursor, step.Done = upTo, upTo >= r.run.LastRow
		for _, row := range judged {
			switch row.Result {
			case gateway.RowMatched:
				step.Matched++
			case gateway.RowRepeated:
				step.Repeated++
			case gateway.RowUnknown, gateway.RowMissing, gateway.RowFaulty:
				step.Unknown++
			}
		}
		n, err := tx.JudgeRows(ctx, r.run.AccountID, r.run.ID, judged)
		if err == nil && n != len(judged) {
			err = errMoved
		}
		return err
	})
}

// judge finds out what rows are that nothing matched.
func (r *runner) judge(ctx context.Context, rows []store.OpenRow) ([]gateway.PartnerRow, error) {
	var first []store.OpenRow
	for _, row := range rows {
		if !row.Repeated {
			first = append(first, row)
		}
	}
	named, err := r.Store.EventsNamed(ctx, r.run.AccountID, r.run.Reconciliation, first)
	if err != nil {
		return nil, err
	}
	var ids []gateway.DeliveryID
	for _, events := range named {
		for _, e := range events {
			ids = append(ids, gateway.DeriveDeliveryID(e.ID, r.run.EndpointID))
		}
	}
	now, err := r.Store.DeliveriesNow(ctx, r.run.AccountID, ids)
	judged := make([]gateway.PartnerRow, len(rows))
	for i, row := range rows {
		judged[i] = gateway.PartnerRow{N: row.N, Result: gateway.RowRepeated}
		if !row.Repeated {
			judged[i] = r.verdict(row, named[row.N], now)
		}
	}
	return judged, err
}

// verdict is what a row is whose key these events have: the one that says most
// decides. Events of the range were matched before, but for those that got their
// delivery since.
func (r *runner) verdict(row store.OpenRow, events []store.NamedEvent, made map[gateway.DeliveryID]store.DeliveryNow) gateway.PartnerRow {
	judged := gateway.PartnerRow{N: row.N, Result: gateway.RowUnknown, Reason: gateway.ReasonNoEvent}
	for _, e := range events {
		d, delivered := made[gateway.DeriveDeliveryID(e.ID, r.run.EndpointID)]
		reason := gateway.ReasonOtherEndpoint
		switch {
		case r.run.WithType && e.Type != row.Type:
			reason = gateway.ReasonOtherType
		case delivered:
			return gateway.PartnerRow{N: row.N, Result: gateway.RowMatched, Reason: r.ofMatch(e.ID, d), EventID: &e.ID}
		}
		if judged.Reason != gateway.ReasonOtherEndpoint {
			judged.Reason, judged.EventID = reason, &e.ID
		}
	}
	return judged
}

// ofMatch is what there is to say of a match that was found by its row.
func (r *runner) ofMatch(id gateway.EventID, d store.DeliveryNow) gateway.RowReason {
	from, until := gateway.FirstIDAt[gateway.EventID](r.run.Since), gateway.FirstIDAt[gateway.EventID](r.run.Until)
	if id.Compare(from) < 0 || id.Compare(until) >= 0 {
		return gateway.ReasonOutside
	}
	return unlessConfirmed(d)
}
