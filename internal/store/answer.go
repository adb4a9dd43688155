package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

// LastAnswer is how a delivery's last attempt ended.
type LastAnswer struct {
	// Detail says in words what went wrong; empty when an answer came.
	Detail string
	// Body is the first part of the answer.
	Body []byte
}

// answerPart is how much of an answer's body LastAnswers reads, in bytes.
const answerPart = 300

// LastAnswers tells how the last attempt of each delivery ended. One without an
// attempt is not in the map.
func (s *Store) LastAnswers(ctx context.Context, account gateway.AccountID, deliveries []gateway.DeliveryID) (map[gateway.DeliveryID]LastAnswer, error) {
	if len(deliveries) == 0 {
		return nil, nil
	}
	low, high := idRange(deliveries)
	rows, err := s.pool.Query(ctx, `
		SELECT u.id, a.detail, a.body
		FROM unnest($2::uuid[]) AS u (id)
		CROSS JOIN LATERAL (
			SELECT detail, substring(response_body FROM 1 FOR $5) AS body
			FROM attempts
			WHERE delivery_id = u.id
			  AND delivery_id BETWEEN $3 AND $4
			  AND account_id = $1
			ORDER BY n DESC
			LIMIT 1
		) a`, account, deliveries, low, high, answerPart)
	if err != nil {
		return nil, wrap("read last answers", err)
	}
	answers := make(map[gateway.DeliveryID]LastAnswer, len(deliveries))
	var id gateway.DeliveryID
	var a LastAnswer
	_, err = pgx.ForEachRow(rows, []any{&id, &a.Detail, &a.Body}, func() error {
		answers[id] = a
		a.Body = nil
		return nil
	})
	return answers, wrap("read last answers", err)
}

// FailedDelivery is a delivery that was given up, as a line among others.
type FailedDelivery struct {
	gateway.Delivery

	// EventType is empty when the event is gone.
	EventType string
}

// FailedDeliveries lists an endpoint's deliveries that were given up, of one
// cause or, where it is nil, of all, newest event first.
func (s *Store) FailedDeliveries(ctx context.Context, account gateway.AccountID, endpoint gateway.EndpointID, cause *gateway.Cause, page Page[gateway.DeliveryID]) ([]FailedDelivery, error) {
	f := DeliveryFilter{Endpoint: &endpoint, Status: gateway.DeliveryFailed, Cause: cause}
	deliveries, err := s.Deliveries(ctx, account, f, page)
	if err != nil {
		return nil, err
	}
	events := make([]gateway.EventID, len(deliveries))
	for i := range deliveries {
		events[i] = deliveries[i].EventID
	}
	types, err := s.eventTypes(ctx, events)
	if err != nil {
		return nil, err
	}
	list := make([]FailedDelivery, len(deliveries))
	for i, d := range deliveries {
		list[i] = FailedDelivery{Delivery: d, EventType: types[d.EventID]}
	}
	return list, nil
}
