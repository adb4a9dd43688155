package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

// AdoptRelays makes the lane's own what an earlier holder gave to listeners, and
// returns it: what a listener has is not lost with the node that gave it, and its
// end can be waited for. It comes before TakeOver, which finds none of it then.
//
// The promise: an attempt has one end, whoever waits for it. Only relays of an
// earlier fence change, and with them the deliveries that are still being sent.
func (t Tx) AdoptRelays(ctx context.Context, lane Lane) ([]Taken, error) {
	rows, err := t.tx.Query(ctx, `
		WITH left_over AS (
			SELECT delivery_id, n
			FROM relays
			WHERE endpoint_id = $1
			  AND account_id = $2
			  AND fence > 0
			  AND fence < $3
			ORDER BY delivery_id, n
			FOR UPDATE
		)
		UPDATE relays r
		SET fence = $3
		FROM left_over o
		WHERE r.delivery_id = o.delivery_id
		  AND r.n = o.n
		RETURNING r.delivery_id, r.n, r.event_id, r.claim_id, r.claim_fence, r.claim_overridden`, lane.EndpointID, lane.AccountID, lane.Fence)
	if err != nil {
		return nil, wrap("adopt relays", err)
	}
	adopted, err := pgx.CollectRows(rows, scanAdopted)
	if err != nil || len(adopted) == 0 {
		return nil, wrap("adopt relays", err)
	}
	return t.adoptDeliveries(ctx, lane, adopted)
}

func scanAdopted(row pgx.CollectableRow) (d Taken, err error) {
	var claim *gateway.ClaimID
	var won WonClaim
	if err := row.Scan(&d.ID, &d.N, &d.EventID, &claim, &won.Fence, &won.Overridden); err != nil || claim == nil {
		return d, err
	}
	won.ID, won.Delivery = *claim, d.ID
	d.Claim = &won
	return d, nil
}

// adoptDeliveries makes the lane's own the deliveries of adopted relays that are
// still being sent, and reads what recording them takes. Relays of deliveries
// that are gone end here.
func (t Tx) adoptDeliveries(ctx context.Context, lane Lane, adopted []Taken) ([]Taken, error) {
	ids, events := make([]gateway.DeliveryID, len(adopted)), make([]gateway.EventID, len(adopted))
	for i := range adopted {
		ids[i], events[i] = adopted[i].ID, adopted[i].EventID
	}
	low, high := idRange(ids)
	batch := &pgx.Batch{}
	batch.Queue(`
		UPDATE deliveries
		SET fence = $4
		WHERE id = ANY ($1)
		  AND id BETWEEN $2 AND $3
		  AND status = 'sending'
		  AND fence < $4`, ids, low, high, lane.Fence)
	found := map[gateway.DeliveryID]Taken{}
	batch.Queue(`
		SELECT id, trigger, step, failover_of IS NOT NULL
		FROM deliveries
		WHERE id = ANY ($1)
		  AND id BETWEEN $2 AND $3`, ids, low, high).
		Query(func(rows pgx.Rows) error {
			var d Taken
			_, err := pgx.ForEachRow(rows, []any{&d.ID, &d.Trigger, &d.Step, &d.FailedOver}, func() error {
				found[d.ID] = d
				return nil
			})
			return err
		})
	types := map[gateway.EventID]string{}
	low2, high2 := idRange(events)
	batch.Queue(`SELECT id, type FROM events WHERE id = ANY ($1) AND id BETWEEN $2 AND $3`, events, low2, high2).
		Query(func(rows pgx.Rows) error {
			var id gateway.EventID
			var eventType string
			_, err := pgx.ForEachRow(rows, []any{&id, &eventType}, func() error {
				types[id] = eventType
				return nil
			})
			return err
		})
	if err := t.tx.SendBatch(ctx, batch).Close(); err != nil {
		return nil, wrap("adopt deliveries", err)
	}
	return t.dropOrphans(ctx, lane, adopted, found, types)
}

// dropOrphans returns the adopted with what was found of them, and ends the
// relays of those of which nothing was.
func (t Tx) dropOrphans(ctx context.Context, lane Lane, adopted []Taken, found map[gateway.DeliveryID]Taken, types map[gateway.EventID]string) ([]Taken, error) {
	kept := adopted[:0]
	var gone []gateway.AttemptID
	for _, d := range adopted {
		known, ok := found[d.ID]
		if !ok {
			gone = append(gone, gateway.DeriveAttemptID(d.ID, d.N))
			continue
		}
		d.Trigger, d.Step, d.FailedOver, d.EventType, d.Relayed = known.Trigger, known.Step, known.FailedOver, types[d.EventID], true
		kept = append(kept, d)
	}
	if len(gone) == 0 {
		return kept, nil
	}
	return kept, t.EndRelays(ctx, lane.AccountID, gone)
}
