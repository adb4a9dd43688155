package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

// DeliveryRow is a delivery as a line among others, with what its endpoint is
// called.
type DeliveryRow struct {
	gateway.Delivery

	Endpoint EndpointLabel
}

// DeliveryRows lists an account's deliveries, newest event first. An event's
// own are all in the list of its filter.
func (s *Store) DeliveryRows(ctx context.Context, account gateway.AccountID, f DeliveryFilter, page Page[gateway.DeliveryID]) ([]DeliveryRow, error) {
	deliveries, err := s.Deliveries(ctx, account, f, page)
	if err != nil {
		return nil, err
	}
	ids := make([]gateway.EndpointID, len(deliveries))
	for i := range deliveries {
		ids[i] = deliveries[i].EndpointID
	}
	labels, err := s.EndpointLabels(ctx, account, ids)
	if err != nil {
		return nil, err
	}
	list := make([]DeliveryRow, len(deliveries))
	for i, d := range deliveries {
		list[i] = DeliveryRow{Delivery: d, Endpoint: labels[d.EndpointID]}
	}
	return list, nil
}

// DeliveryLine is a delivery as a line of the list of all.
type DeliveryLine struct {
	DeliveryRow

	// EventType is empty when the event is gone.
	EventType string
}

// DeliveryLines is DeliveryRows with what the events are called.
func (s *Store) DeliveryLines(ctx context.Context, account gateway.AccountID, f DeliveryFilter, page Page[gateway.DeliveryID]) ([]DeliveryLine, error) {
	rows, err := s.DeliveryRows(ctx, account, f, page)
	if err != nil {
		return nil, err
	}
	events := make([]gateway.EventID, len(rows))
	for i := range rows {
		events[i] = rows[i].EventID
	}
	types, err := s.eventTypes(ctx, events)
	lines := make([]DeliveryLine, len(rows))
	for i, row := range rows {
		lines[i] = DeliveryLine{DeliveryRow: row, EventType: types[row.EventID]}
	}
	return lines, err
}

// Progress is how far an event's deliveries got.
type Progress struct {
	// Total is how many there are, but for those that failed and whose failover
	// has the event; Delivered is how many were confirmed, Failed how many were
	// given up.
	Total, Delivered, Failed int
	// Suppressed is how many were not sent since their fact is confirmed.
	Suppressed int
	// Open is how many are still to be sent, Held how many of these wait for
	// their endpoint to be active, Retrying how many of them failed before.
	Open, Held, Retrying int
	// NextAttemptAt is the soonest of those that are open and not held.
	NextAttemptAt *time.Time
}

// Overall is how far the event got; empty where it has no delivery.
func (p Progress) Overall() gateway.Progress {
	switch {
	case p.Total == 0:
		return ""
	case p.Failed > 0:
		return gateway.ProgressFailed
	case p.Held > 0 && p.Held == p.Open:
		return gateway.ProgressHeld
	case p.Retrying > 0:
		return gateway.ProgressRetrying
	case p.Open > 0:
		return gateway.ProgressPending
	case p.Delivered > 0:
		return gateway.ProgressDelivered
	case p.Suppressed > 0:
		return gateway.ProgressSuppressed
	default:
		return gateway.ProgressCancelled
	}
}

// Progress tells how far a page of events got. One without a delivery is not in
// the map.
func (s *Store) Progress(ctx context.Context, account gateway.AccountID, events []gateway.EventID) (map[gateway.EventID]Progress, error) {
	return s.ProgressAt(ctx, account, events, nil)
}

// ProgressAt tells how far a page of events got at one endpoint; nil is at all of
// them.
func (s *Store) ProgressAt(ctx context.Context, account gateway.AccountID, events []gateway.EventID, endpoint *gateway.EndpointID) (map[gateway.EventID]Progress, error) {
	if len(events) == 0 {
		return nil, nil
	}
	lows, highs, low, high := sameMilliseconds(events)
	// Each event's are counted by themselves, so that they are found by the
	// primary key, whatever the planner thinks of the others.
	rows, err := s.pool.Query(ctx, `
		SELECT u.id, c.total, c.delivered, c.failed, c.suppressed, c.open, c.held, c.retrying, c.next
		FROM unnest($2::uuid[], $3::uuid[], $4::uuid[]) AS u (id, low, high)
		CROSS JOIN LATERAL (
			SELECT count(*) AS total,
			       count(*) FILTER (WHERE d.status = 'delivered') AS delivered,
			       count(*) FILTER (WHERE d.status = 'failed') AS failed,
			       count(*) FILTER (WHERE d.status = 'suppressed') AS suppressed,
			       count(*) FILTER (WHERE d.status IN ('pending', 'sending')) AS open,
			       count(*) FILTER (WHERE d.status IN ('pending', 'sending') AND p.state <> 'active') AS held,
			       count(*) FILTER (WHERE d.status IN ('pending', 'sending') AND d.last_outcome <> 'succeeded') AS retrying,
			       min(d.next_attempt_at) FILTER (WHERE d.status = 'pending' AND p.state = 'active') AS next
			FROM deliveries d
			JOIN endpoints p
			  ON p.id = d.endpoint_id
			WHERE d.event_id = u.id
			  AND d.id >= u.low
			  AND d.id < u.high
			  AND d.account_id = $1
			  AND d.id >= $5
			  AND d.id < $6
			  AND (d.status <> 'failed' OR d.failover_to IS NULL)
			  AND ($7::uuid IS NULL OR d.endpoint_id = $7)
		) c
		WHERE c.total > 0`, account, events, lows, highs, low, high, endpoint)
	if err != nil {
		return nil, wrap("count what is delivered", err)
	}
	progress, err := collectProgress(rows)
	return progress, wrap("count what is delivered", err)
}

func collectProgress(rows pgx.Rows) (map[gateway.EventID]Progress, error) {
	progress := map[gateway.EventID]Progress{}
	var id gateway.EventID
	var p Progress
	_, err := pgx.ForEachRow(rows, []any{&id, &p.Total, &p.Delivered, &p.Failed, &p.Suppressed, &p.Open, &p.Held, &p.Retrying, &p.NextAttemptAt}, func() error {
		progress[id] = p
		p.NextAttemptAt = nil
		return nil
	})
	return progress, err
}
