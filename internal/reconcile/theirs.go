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
	var texts []string
	for _, row := range rows {
		if !row.Repeated {
			texts = append(texts, row.Key)
		}
	}
	named, err := r.Store.EventsNamed(ctx, r.run.AccountID, r.run.Reconciliation, texts)
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
			judged[i] = r.verdict(row, named[row.Key], now)
		}
	}
	return judged, err
}

// verdict is what a row is whose key these events have: the one that says most
// decides. Events of the range were matched before, so that a match came in
// outside of it.
func (r *runner) verdict(row store.OpenRow, events []store.NamedEvent, made map[gateway.DeliveryID]store.DeliveryNow) gateway.PartnerRow {
	judged := gateway.PartnerRow{N: row.N, Result: gateway.RowUnknown, Reason: gateway.ReasonNoEvent}
	for _, e := range events {
		_, delivered := made[gateway.DeriveDeliveryID(e.ID, r.run.EndpointID)]
		reason := gateway.ReasonOtherEndpoint
		switch {
		case r.run.WithType && e.Type != row.Type:
			reason = gateway.ReasonOtherType
		case delivered:
			return gateway.PartnerRow{N: row.N, Result: gateway.RowMatched, Reason: gateway.ReasonOutside, EventID: &e.ID}
		}
		if judged.Reason != gateway.ReasonOtherEndpoint {
			judged.Reason, judged.EventID = reason, &e.ID
		}
	}
	return judged
}
