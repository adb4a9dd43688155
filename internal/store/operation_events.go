package store

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

// EventsLooked is what a look at deliveries found by way of their events.
type EventsLooked struct {
	// Deliveries are in the order of their ids, each with its event.
	Deliveries []LookedOf
	// Looked is how many events they are of.
	Looked int
	// Last is the last id that was looked at; the next look begins behind it. End:
	// there are no more.
	Last gateway.DeliveryID
	End  bool
}

// LookedOf is a delivery that was looked at, and its event.
type LookedOf struct {
	Looked[gateway.DeliveryID]

	EventID gateway.EventID
}

// LookAtDeliveriesOf looks at the deliveries of the next events that a filter of
// events leads to, up to limit of them. Deliveries carry their events' time: what
// is looked at are whole milliseconds, so that a delivery's id says how far it
// was looked, as everywhere in an operation.
func (s *Store) LookAtDeliveriesOf(ctx context.Context, run OperationRun, after gateway.DeliveryID, limit int) (EventsLooked, error) {
	ids, end, err := s.eventsBehind(ctx, run, after, limit)
	if err != nil {
		return EventsLooked{}, err
	}
	found := EventsLooked{Looked: len(ids), End: end, Last: idBefore(gateway.DeliveryID(run.Bound))}
	if !end {
		_, high := sameMillisecond(ids[len(ids)-1])
		found.Last = earlierID(found.Last, idBefore(high))
	}
	if len(ids) == 0 {
		return found, nil
	}
	found.Deliveries, err = s.deliveriesOf(ctx, run, ids, after)
	return found, err
}

// idBefore is the id before another one.
func idBefore(id gateway.DeliveryID) gateway.DeliveryID {
	for i := len(id) - 1; i >= 0; i-- {
		id[i]--
		if id[i] != 0xff {
			break
		}
	}
	return id
}

// idBehind is the id behind another one.
func idBehind(id gateway.DeliveryID) gateway.DeliveryID {
	for i := len(id) - 1; i >= 0; i-- {
		id[i]++
		if id[i] != 0 {
			break
		}
	}
	return id
}

// eventsBehind reads the next events of whole milliseconds, the one that a
// delivery's id stands in included. end: there are no more.
func (s *Store) eventsBehind(ctx context.Context, run OperationRun, after gateway.DeliveryID, limit int) (ids []gateway.EventID, end bool, err error) {
	if len(run.Filter.Events) > 0 {
		return run.Filter.Events, true, nil
	}
	low := gateway.FirstIDAt[gateway.EventID](idBehind(after).Time())
	for ; ; limit = sameMomentMost {
		if ids, err = s.eventsFrom(ctx, run, low, limit); err != nil || len(ids) < limit {
			return ids, true, err
		}
		last := ids[len(ids)-1].Time()
		whole := slices.IndexFunc(ids, func(id gateway.EventID) bool { return id.Time().Equal(last) })
		if whole > 0 {
			return ids[:whole], false, nil
		}
		if limit == sameMomentMost {
			return ids, false, nil
		}
	}
}

// eventsFrom reads the events of a filter from an id on, oldest first.
func (s *Store) eventsFrom(ctx context.Context, run OperationRun, low gateway.EventID, limit int) ([]gateway.EventID, error) {
	f := run.Filter
	q := &query{}
	q.add(`SELECT e.id FROM events e WHERE e.account_id = `, run.AccountID)
	addRange(q, `e.id`, low, gateway.EventID(run.Bound))
	q.addEventFilter(EventFilter{Type: f.Type, Subject: f.Subject, Source: f.Source, Status: f.EventStatus})
	q.add(` ORDER BY e.id LIMIT `, limit)
	rows, err := s.pool.Query(ctx, q.sql(), q.args...)
	if err != nil {
		return nil, wrap("look at events", err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[gateway.EventID])
	return ids, wrap("look at events", err)
}

// deliveriesOf reads the deliveries of events behind an id. Each event's are
// found by the primary key.
func (s *Store) deliveriesOf(ctx context.Context, run OperationRun, events []gateway.EventID, after gateway.DeliveryID) ([]LookedOf, error) {
	lows, highs := make([]gateway.DeliveryID, len(events)), make([]gateway.DeliveryID, len(events))
	for i, id := range events {
		lows[i], highs[i] = sameMillisecond(id)
	}
	low, _ := idRange(lows)
	_, high := idRange(highs)
	q := &query{}
	q.addMatchOf(run, `, c.event_id`)
	q.add(` FROM unnest(`, events)
	q.add(`::uuid[], `, lows)
	q.add(`::uuid[], `, highs)
	q.add(`::uuid[]) AS u (id, low, high)
		CROSS JOIN LATERAL (
			SELECT *
			FROM deliveries d
			WHERE d.event_id = u.id
			  AND d.id >= u.low
			  AND d.id < u.high
			  AND d.account_id = `, run.AccountID)
	q.add(` AND d.id >= `, low)
	q.add(` AND d.id < `, high)
	q.add(` AND d.id > `, after)
	q.put(` OFFSET 0) c`) // which keeps the planner from joining in another way
	rows, err := s.pool.Query(ctx, q.sql(), q.args...)
	if err != nil {
		return nil, wrap("look at the deliveries of events", err)
	}
	looked, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (l LookedOf, err error) {
		return l, row.Scan(&l.ID, &l.EndpointID, &l.Matches, &l.EventID)
	})
	slices.SortFunc(looked, func(a, b LookedOf) int { return a.ID.Compare(b.ID) })
	return looked, wrap("look at the deliveries of events", err)
}
