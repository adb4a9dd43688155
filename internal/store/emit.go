package store

import (
	"context"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/job"
)

// OwnEvent is one of Rowlock's own events.
type OwnEvent struct {
	ID gateway.EventID
	// Data is JSON.
	Data []byte
}

// Emit inserts one of Rowlock's own events in the transaction that earned it,
// with the job that decides it, and has members told of it if it is such a one.
func (t Tx) Emit(ctx context.Context, account gateway.AccountID, id gateway.EventID, eventType string, data []byte) error {
	if err := t.EmitAll(ctx, account, eventType, []OwnEvent{{ID: id, Data: data}}); err != nil || !gateway.IsAlert(eventType) {
		return err
	}
	return t.AddAlert(ctx, account, Alert{ID: gateway.AlertID(id), Type: eventType, Data: data})
}

// EmitAll inserts own events of one type in the transaction that earned them,
// with one job that decides them. Nobody is written to.
func (t Tx) EmitAll(ctx context.Context, account gateway.AccountID, eventType string, own []OwnEvent) error {
	source, err := t.APISource(ctx, account)
	if err != nil {
		return err
	}
	events := make([]NewEvent, len(own))
	ids := make([]gateway.EventID, len(own))
	for i, o := range own {
		ids[i] = o.ID
		events[i] = NewEvent{
			Event: gateway.Event{ID: o.ID, AccountID: account, SourceID: source, Type: eventType, Status: gateway.EventAccepted},
			Body:  gateway.Body{Method: "POST", Headers: JSONHeaders, Data: o.Data},
		}
	}
	if err := t.InsertEvents(ctx, events); err != nil {
		return err
	}
	return t.Enqueue(ctx, job.Process{EventIDs: ids})
}

// AsksFor tells whether an endpoint of the account asks for a type by name, as
// all do that get own events. One that begins to ask meanwhile may be missed.
func (t Tx) AsksFor(ctx context.Context, account gateway.AccountID, eventType string) (asks bool, err error) {
	err = t.tx.QueryRow(ctx, `
		SELECT EXISTS (
			SELECT
			FROM endpoints
			WHERE account_id = $1
			  AND deleted_at IS NULL
			  AND event_types && $2)`, account, gateway.PatternsFor(eventType)).Scan(&asks)
	return asks, wrap("look who asks for an event type", err)
}

// JSONHeaders are the stored headers of an event that came through the API.
var JSONHeaders = []byte("Content-Type: application/json\r\n")

const apiSourceByAccount = `
	SELECT id
	FROM sources
	WHERE account_id = $1
	  AND kind = 'api'`

// APISource returns the account's built-in source.
func (t Tx) APISource(ctx context.Context, account gateway.AccountID) (gateway.SourceID, error) {
	var id gateway.SourceID
	err := t.tx.QueryRow(ctx, apiSourceByAccount, account).Scan(&id)
	return id, wrap("find the built-in source", err)
}

// APISource returns the account's built-in source, through which its own
// applications publish.
func (s *Store) APISource(ctx context.Context, account gateway.AccountID) (gateway.SourceID, error) {
	var id gateway.SourceID
	err := s.pool.QueryRow(ctx, apiSourceByAccount, account).Scan(&id)
	return id, wrap("find the built-in source", err)
}
