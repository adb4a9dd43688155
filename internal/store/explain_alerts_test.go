package store_test

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// alerting is how members are told of what happens.
func (x *explained) alerting() []call {
	account, id := x.owner.ID, gateway.AlertID(x.b.clock.NewID())
	return []call{
		done("an alert", func(ctx context.Context, tx store.Tx) error {
			if err := tx.AddAlert(ctx, account, store.Alert{ID: id, Type: gateway.TypeEndpointDisabled, Data: []byte(`{}`)}); err != nil {
				return err
			}
			_, err := tx.TakeAlert(ctx, id)
			return err
		}),
		only("alerts", func(ctx context.Context) ([]gateway.AlertID, error) { return x.Alerts(ctx, listed) }),
		inTx("recipients", func(ctx context.Context, tx store.Tx) ([]string, error) {
			return tx.Recipients(ctx, account, gateway.AlertEndpointDisabled)
		}),
		inTx("scene", func(ctx context.Context, tx store.Tx) (store.Scene, error) {
			return tx.Scene(ctx, account, &x.endpoint)
		}),
		inTx("who asks for a type", func(ctx context.Context, tx store.Tx) (bool, error) {
			return tx.AsksFor(ctx, account, gateway.TypeDeliveryFailed)
		}),
		done("emit many", func(ctx context.Context, tx store.Tx) error {
			own := []store.OwnEvent{{ID: gateway.EventID(x.b.clock.NewID()), Data: []byte(`{}`)}}
			return tx.EmitAll(ctx, account, gateway.TypeDeliveryFailed, own)
		}),
		done("a channel", func(ctx context.Context, tx store.Tx) error {
			for _, url := range []string{"https://example.com", ""} {
				if changed, err := tx.SetAlertChannel(ctx, account, x.b.clock.NewID(), url, "example.com", gateway.AlertKinds[:len(url)/10+1]); err != nil || !changed {
					return errors.Join(errors.New("nothing was set"), err)
				}
			}
			if host, err := tx.ChannelOf(ctx, account, gateway.AlertKinds[0]); err != nil || host == "" {
				return errors.Join(errors.New("no channel"), err)
			}
			return tx.RemoveAlertChannel(ctx, account)
		}),
		missing("channel", func(ctx context.Context) error { _, err := x.AlertChannel(ctx, account); return err }),
		missing("channel's address", func(ctx context.Context) error { _, err := x.AlertChannelURL(ctx, account); return err }),
		x.withUser("choices and a digest", func(ctx context.Context, tx store.Tx, user store.User) error {
			if err := tx.AddMember(ctx, account, user.ID, gateway.RoleViewer); err != nil {
				return err
			}
			if _, err := tx.ChooseAlerts(ctx, account, user.ID, gateway.AlertKinds, slices.Repeat([]bool{true}, len(gateway.AlertKinds))); err != nil {
				return err
			}
			if err := tx.GatherFailed(ctx, x.lane, map[string]int64{"503": 1}, store.DigestPace{}); err != nil {
				return err
			}
			digest, err := tx.TakeDigest(ctx, account, x.endpoint)
			if err == nil && digest.Failed != 1 {
				err = errors.New("nothing was gathered")
			}
			return err
		}),
		x.withUser("saved views", func(ctx context.Context, tx store.Tx, user store.User) error {
			if err := tx.AddMember(ctx, account, user.ID, gateway.RoleViewer); err != nil {
				return err
			}
			if err := tx.SaveView(ctx, account, user.ID, gateway.SavedView{Name: "a", Query: "b=c"}); err != nil {
				return err
			}
			_, err := tx.DeleteView(ctx, account, user.ID, "a")
			return err
		}),
		only("list saved views", func(ctx context.Context) ([]gateway.SavedView, error) {
			return x.SavedViews(ctx, account, gateway.UserID(x.b.clock.NewID()))
		}),
		only("choices", func(ctx context.Context) (map[gateway.AlertKind]bool, error) {
			return x.AlertChoices(ctx, account, gateway.UserID(x.b.clock.NewID()))
		}),
		only("due digests", func(ctx context.Context) ([]store.LaneRef, error) { return x.DueDigests(ctx, listed) }),
		only("keys that end", func(ctx context.Context) ([]store.KeyRef, error) { return x.EndingKeys(ctx, listed) }),
		done("take a key that ends", func(ctx context.Context, tx store.Tx) error {
			_, err := tx.TakeEndingKey(ctx, store.KeyRef{AccountID: account, ID: gateway.KeyID(x.b.clock.NewID())})
			return wantMissing(err)
		}),
		done("prune alerts", func(ctx context.Context, _ store.Tx) error { return x.PruneAlerts(ctx, time.Hour) }),
	}
}
