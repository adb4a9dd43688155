package store_test

import (
	"context"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// editing is what people change.
func (x *explained) editing() []call {
	account, overlap := x.owner.ID, time.Hour
	return []call{
		inTx("create endpoint", func(ctx context.Context, tx store.Tx) (gateway.Endpoint, error) {
			return tx.CreateEndpoint(ctx, account, x.b.endpoint(), 100)
		}),
		inTx("update endpoint", func(ctx context.Context, tx store.Tx) (gateway.Endpoint, error) {
			changed := x.b.endpoint()
			changed.ID = x.endpoint
			return tx.UpdateEndpoint(ctx, account, changed)
		}),
		inTx("set endpoint's authorization", func(ctx context.Context, tx store.Tx) (gateway.Endpoint, error) {
			return tx.SetEndpointAuth(ctx, account, x.endpoint, gateway.Auth{Kind: gateway.AuthBearer, Header: "Bearer x"})
		}),
		inTx("lock endpoint", func(ctx context.Context, tx store.Tx) (gateway.Endpoint, error) {
			return tx.LockEndpoint(ctx, account, x.endpoint)
		}),
		done("endpoint's secrets", func(ctx context.Context, tx store.Tx) error {
			added := x.b.secret("whsec")
			if _, err := tx.AddEndpointSecret(ctx, account, x.endpoint, added); err != nil {
				return err
			}
			if err := tx.EndEndpointSecrets(ctx, account, x.endpoint, overlap, added.ID); err != nil {
				return err
			}
			other, err := tx.AddEndpointSecret(ctx, account, x.endpoint, x.b.secret("other"))
			if err == nil {
				err = tx.EndEndpointSecrets(ctx, account, x.endpoint, overlap, other.ID)
			}
			if err == nil {
				_, err = tx.ExtendEndpointSecret(ctx, account, x.endpoint, added.ID, overlap)
			}
			if err == nil {
				_, err = tx.EndEndpointSecret(ctx, account, x.endpoint, added.ID)
			}
			return err
		}),
		inTx("create source", func(ctx context.Context, tx store.Tx) (gateway.Source, error) {
			id := gateway.SourceID(x.b.clock.NewID())
			return tx.CreateSource(ctx, account, gateway.Source{ID: id, Name: "s", Kind: "github", Token: id.String()})
		}),
		inTx("update source", func(ctx context.Context, tx store.Tx) (gateway.Source, error) {
			return tx.UpdateSource(ctx, account, gateway.Source{ID: x.source, Name: "renamed"})
		}),
		inTx("lock source", func(ctx context.Context, tx store.Tx) (gateway.Source, error) {
			return tx.LockSource(ctx, account, x.source)
		}),
		done("source's secrets", func(ctx context.Context, tx store.Tx) error {
			added, err := tx.AddSourceSecret(ctx, account, x.source, x.b.secret("s"))
			if err != nil {
				return err
			}
			return tx.EndSourceSecrets(ctx, account, x.source, overlap, added.ID)
		}),
		done("event type", func(ctx context.Context, tx store.Tx) error {
			declared, err := tx.CreateEventType(ctx, account, gateway.EventType{Name: "declared", OnDoubt: gateway.OnDoubtHold}, 10)
			if err == nil {
				_, err = tx.LockEventType(ctx, account, declared.Name)
			}
			if err == nil {
				_, err = tx.UpdateEventType(ctx, account, declared)
			}
			if err == nil {
				_, err = tx.SingleFire(ctx, account, []string{declared.Name})
			}
			if err == nil {
				err = tx.DeleteEventType(ctx, account, declared.Name)
			}
			return err
		}),
		done("dismiss and restore", func(ctx context.Context, tx store.Tx) error {
			d := store.Dismissal{EndpointID: x.endpoint, Cause: gateway.Cause{StatusCode: 500}, Until: x.now}
			_, err := tx.Dismiss(ctx, account, gateway.ActorRowlock, "known", []store.Dismissal{d})
			if err == nil {
				_, err = tx.Restore(ctx, account, &x.endpoint, &d.Cause)
			}
			return err
		}),
		only("prune dismissals", func(ctx context.Context) (int64, error) { return x.PruneDismissals(ctx, x.now) }),
		inTx("make due", func(ctx context.Context, tx store.Tx) (int, error) {
			return tx.MakeDue(ctx, account, x.endpoint, listed)
		}),
		done("audit", func(ctx context.Context, tx store.Tx) error {
			return tx.Audit(ctx, account, gateway.ActorRowlock, "test", x.endpoint.String(), "", x.b.clock.NewID())
		}),
	}
}

// changingState stops, starts and ends.
func (x *explained) changingState() []call {
	account := x.owner.ID
	return []call{
		inTx("pause endpoint", func(ctx context.Context, tx store.Tx) (bool, error) {
			return tx.PauseEndpoint(ctx, account, x.endpoint)
		}),
		inTx("resume endpoint", func(ctx context.Context, tx store.Tx) (gateway.Endpoint, error) {
			return tx.ResumeEndpoint(ctx, account, x.endpoint)
		}),
		done("delete endpoint", func(ctx context.Context, tx store.Tx) error { return tx.DeleteEndpoint(ctx, account, x.endpoint) }),
		done("cancel what is open", func(ctx context.Context, tx store.Tx) error {
			if err := tx.DeleteEndpoint(ctx, account, x.endpoint); err != nil {
				return err
			}
			_, err := tx.CancelOpen(ctx, account, x.endpoint, 100)
			return err
		}),
		only("leaving endpoints", func(ctx context.Context) ([]store.LaneRef, error) { return x.LeavingEndpoints(ctx, 100) }),
		inTx("pause source", func(ctx context.Context, tx store.Tx) (bool, error) {
			return tx.SetSourceState(ctx, account, x.source, gateway.SourcePaused)
		}),
		done("delete source", func(ctx context.Context, tx store.Tx) error { return tx.DeleteSource(ctx, account, x.source) }),
	}
}
