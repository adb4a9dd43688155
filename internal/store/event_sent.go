package store

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

// sameMomentMost bounds the deliveries of one millisecond: a batch of a thousand
// events to many endpoints.
const sameMomentMost = 20_000

// EventsSent lists an account's events that have a delivery of a kind, newest
// first. Deliveries carry their events' time, so that the list of deliveries
// leads from one event to the next; within a millisecond their order is
// another, and all of it is read.
func (s *Store) EventsSent(ctx context.Context, account gateway.AccountID, f DeliveryFilter, page Page[gateway.EventID]) ([]gateway.Event, error) {
	p := Page[gateway.DeliveryID]{Since: page.Since, Until: page.Until, Limit: page.Limit}
	if page.Before != nil {
		_, high := sameMillisecond(*page.Before)
		p.Before = &high
	}
	seen := map[gateway.EventID]bool{}
	for more := true; more && len(seen) < page.Limit; {
		part, next, err := s.wholeMoments(ctx, account, f, p)
		if err != nil {
			return nil, err
		}
		for _, d := range part {
			if page.Before == nil || d.EventID.Compare(*page.Before) < 0 {
				seen[d.EventID] = true
			}
		}
		p.Before, more = next, next != nil
	}
	ids := make([]gateway.EventID, 0, len(seen))
	for id := range seen {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b gateway.EventID) int { return b.Compare(a) })
	return s.EventsByID(ctx, account, ids[:min(len(ids), page.Limit)])
}

// wholeMoments reads a part of a list of deliveries, and what else there is of
// its last millisecond. The list goes on before next; nil at its end.
func (s *Store) wholeMoments(ctx context.Context, account gateway.AccountID, f DeliveryFilter, p Page[gateway.DeliveryID]) (part []gateway.Delivery, next *gateway.DeliveryID, err error) {
	part, err = s.Deliveries(ctx, account, f, p)
	if err != nil || len(part) < p.Limit {
		return part, nil, err
	}
	last := part[len(part)-1]
	low, _ := sameMillisecond(last.EventID)
	rest, err := s.Deliveries(ctx, account, f, Page[gateway.DeliveryID]{Since: last.ID.Time(), Before: &last.ID, Limit: sameMomentMost})
	return append(part, rest...), &low, err
}

// EventsByID reads events by their ids, newest first. The account is compared where
// they are read, so that each is looked up in the primary key.
func (s *Store) EventsByID(ctx context.Context, account gateway.AccountID, ids []gateway.EventID) ([]gateway.Event, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	low, high := idRange(ids)
	rows, err := s.pool.Query(ctx, `
		SELECT `+eventFields+`
		FROM events e
		WHERE e.id = ANY ($1)
		  AND e.id BETWEEN $2 AND $3`, ids, low, high)
	if err != nil {
		return nil, wrap("read events", err)
	}
	events, err := pgx.CollectRows(rows, scanEvent)
	events = slices.DeleteFunc(events, func(e gateway.Event) bool { return e.AccountID != account })
	slices.SortFunc(events, func(a, b gateway.Event) int { return b.ID.Compare(a.ID) })
	return events, wrap("read events", err)
}
