package store

import (
	"context"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/job"
)

// Emit inserts one of Rowlock's own events in the transaction that earned it,
// with the job that decides it.
func (t Tx) Emit(ctx context.Context, account gateway.AccountID, id gateway.EventID, eventType string, data []byte) error {
	source, err := t.APISource(ctx, account)
	if err != nil {
		return err
	}
	event := NewEvent{
		Event: gateway.Event{ID: id, AccountID: account, SourceID: source, Type: eventType, Status: gateway.EventAccepted},
		Body:  gateway.Body{Method: "POST", Headers: JSONHeaders, Data: data},
	}
	if err := t.InsertEvents(ctx, []NewEvent{event}); err != nil {
		return err
	}
	return t.Enqueue(ctx, job.Process{EventIDs: []gateway.EventID{id}})
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
