package store_test

import (
	"context"
	"errors"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// only is a call whose result is of no interest.
func only[V any](name string, do func(context.Context) (V, error)) call {
	return call{name: name, do: func(ctx context.Context, _ store.Tx) error {
		_, err := do(ctx)
		return err
	}}
}

// inTx is a call within the transaction.
func inTx[V any](name string, do func(context.Context, store.Tx) (V, error)) call {
	return call{name: name, do: func(ctx context.Context, tx store.Tx) error {
		_, err := do(ctx, tx)
		return err
	}}
}

// reads ask for one thing, or for what hangs on it.
func (x *explained) reads() []call {
	account, event, delivery := x.owner.ID, x.event.ID, x.delivery.ID
	return []call{
		only("event", func(ctx context.Context) (gateway.Event, error) { return x.Event(ctx, account, event) }),
		only("body", func(ctx context.Context) (gateway.Body, error) { return x.Body(ctx, account, event) }),
		only("summary", func(ctx context.Context) (map[gateway.DeliveryStatus]int, error) {
			return x.DeliverySummary(ctx, account, event)
		}),
		only("delivery", func(ctx context.Context) (gateway.Delivery, error) { return x.Delivery(ctx, account, delivery) }),
		only("attempts", func(ctx context.Context) ([]gateway.Attempt, error) {
			return x.DeliveryAttempts(ctx, account, delivery)
		}),
		only("attempt", func(ctx context.Context) (gateway.Attempt, error) {
			return x.Attempt(ctx, account, gateway.DeriveAttemptID(delivery, 1))
		}),
		inTx("delivery in a transaction", func(ctx context.Context, tx store.Tx) (gateway.Delivery, error) {
			return tx.DeliveryInTx(ctx, account, delivery)
		}),
		inTx("event's deliveries", func(ctx context.Context, tx store.Tx) ([]gateway.Delivery, error) {
			return tx.EventDeliveries(ctx, account, event, nil)
		}),
		inTx("event's deliveries to one", func(ctx context.Context, tx store.Tx) ([]gateway.Delivery, error) {
			return tx.EventDeliveries(ctx, account, event, &x.endpoint)
		}),
	}
}

// ownerReads ask for what hangs on the account alone.
func (x *explained) ownerReads() []call {
	account := x.owner.ID
	return []call{
		only("account", func(ctx context.Context) (gateway.Account, error) { return x.Account(ctx, account) }),
		only("endpoint", func(ctx context.Context) (gateway.Endpoint, error) { return x.Endpoint(ctx, account, x.endpoint) }),
		inTx("endpoint in a transaction", func(ctx context.Context, tx store.Tx) (gateway.Endpoint, error) {
			return tx.Endpoint(ctx, account, x.endpoint)
		}),
		only("count endpoints", func(ctx context.Context) (int, error) { return x.CountEndpoints(ctx, account) }),
		only("endpoints", func(ctx context.Context) ([]gateway.Endpoint, error) {
			return x.Endpoints(ctx, account, store.Page[gateway.EndpointID]{Limit: listed})
		}),
		only("endpoint's secrets", func(ctx context.Context) ([]gateway.Secret, error) {
			return x.EndpointSecrets(ctx, account, x.endpoint)
		}),
		only("endpoint's target", func(ctx context.Context) (store.Target, error) { return x.EndpointTarget(ctx, account, x.endpoint) }),
		only("endpoints' public keys", func(ctx context.Context) (map[gateway.EndpointID][]string, error) {
			return x.EndpointPublicKeys(ctx, account, []gateway.EndpointID{x.endpoint})
		}),
		only("endpoint secrets' times", func(ctx context.Context) ([]gateway.Secret, error) {
			return x.EndpointSecretTimes(ctx, account, x.endpoint)
		}),
		inTx("endpoint's secrets in a transaction", func(ctx context.Context, tx store.Tx) ([]gateway.Secret, error) {
			return tx.EndpointSecrets(ctx, account, x.endpoint)
		}),
		only("endpoint's numbers", func(ctx context.Context) (store.Stats, error) {
			return x.EndpointStats(ctx, account, x.endpoint, x.now.Add(-time.Hour))
		}),
		only("stored bytes", func(ctx context.Context) (int64, error) { return x.StoredBytes(ctx, account, x.now.AddDate(0, -1, 0)) }),
		only("source", func(ctx context.Context) (gateway.Source, error) { return x.Source(ctx, account, x.source) }),
		only("sources", func(ctx context.Context) ([]gateway.Source, error) {
			return x.Sources(ctx, account, store.Page[gateway.SourceID]{Limit: listed})
		}),
		only("event type", func(ctx context.Context) (gateway.EventType, error) {
			t, err := x.EventType(ctx, account, "declared")
			if errors.Is(err, gateway.ErrNotFound) {
				err = nil
			}
			return t, err
		}),
		only("event key", func(ctx context.Context) (bool, error) {
			return x.IsKeyKnown(ctx, account, x.source, [32]byte{1})
		}),
		only("event types", func(ctx context.Context) ([]gateway.EventType, error) {
			return x.EventTypes(ctx, account, "", listed)
		}),
		only("declared types", func(ctx context.Context) ([]store.DeclaredType, error) { return x.DeclaredTypes(ctx, account) }),
		only("source's secrets", func(ctx context.Context) ([]gateway.Secret, error) { return x.SourceSecrets(ctx, account, x.source) }),
		only("sources with a secret", func(ctx context.Context) (map[gateway.SourceID]bool, error) {
			return x.SourcesWithSecret(ctx, account, x.owner.Sources)
		}),
		only("built-in source", func(ctx context.Context) (gateway.SourceID, error) { return x.APISource(ctx, account) }),
		inTx("built-in source in a transaction", func(ctx context.Context, tx store.Tx) (gateway.SourceID, error) {
			return tx.APISource(ctx, account)
		}),
		{name: "source by token", do: func(ctx context.Context, _ store.Tx) error {
			_, _, err := x.SourceByToken(ctx, x.source.String())
			return err
		}},
		missing("endpoint by uid", func(ctx context.Context) error { _, err := x.EndpointByUID(ctx, account, "none"); return err }),
		missing("source by uid", func(ctx context.Context) error { _, err := x.SourceByUID(ctx, account, "none"); return err }),
		only("API keys", func(ctx context.Context) ([]store.FoundKey, error) { return x.APIKeysByHash(ctx, [][32]byte{{}}) }),
		done("use API key", func(ctx context.Context, _ store.Tx) error {
			return x.UseAPIKey(ctx, x.owner.ID, gateway.KeyID(x.b.clock.NewID()), nil, time.Minute)
		}),
	}
}

// housekeeping is what each node does by itself.
func (x *explained) housekeeping() []call {
	far := x.now.AddDate(0, 0, 2*daysAround)
	return []call{
		only("time", x.Now),
		{name: "ping", do: func(ctx context.Context, _ store.Tx) error { return x.Ping(ctx) }},
		only("beat", func(ctx context.Context) (time.Time, error) {
			return x.Beat(ctx, store.Node{Name: "n", Roles: "worker"})
		}),
		only("other nodes", func(ctx context.Context) (bool, error) { return x.OtherNodes(ctx, "n") }),
		{name: "leave", do: func(ctx context.Context, _ store.Tx) error { return x.LeaveNode(ctx, "n") }},
		{name: "forget nodes", do: func(ctx context.Context, _ store.Tx) error { return x.ForgetNodes(ctx, time.Hour) }},
		only("make days", func(ctx context.Context) (int, error) { return x.MakePartitions(ctx, far, far) }),
		only("has days", func(ctx context.Context) (bool, error) { return x.HasPartitions(ctx, far) }),
		only("old days", func(ctx context.Context) ([]time.Time, error) { return x.DaysBefore(ctx, x.now) }),
		{name: "drop a day", do: func(ctx context.Context, _ store.Tx) error { return x.DropDay(ctx, far) }},
		{name: "prune keys", do: func(ctx context.Context, _ store.Tx) error {
			_, _, err := x.PruneKeys(ctx, 0, time.Time{}, x.now, 100)
			return err
		}},
		only("prune counts of types", func(ctx context.Context) (int64, error) { return x.PruneTypeCounts(ctx, x.now.AddDate(0, 0, -30), 100) }),
		only("prune rollups", func(ctx context.Context) (int64, error) { return x.PruneRollups(ctx, x.now.AddDate(0, 0, -30), 100) }),
		only("trim requests", func(ctx context.Context) (int64, error) { return x.TrimRequests(ctx, 1000, 100) }),
		only("repair lanes", x.RepairLanes),
		only("held at active", func(ctx context.Context) ([]store.SourceRef, error) { return x.HeldAtActive(ctx, 100) }),
		inTx("sweep lock", func(ctx context.Context, tx store.Tx) (bool, error) { return tx.TrySweepLock(ctx) }),
		done("alarms of lanes with work", func(ctx context.Context, tx store.Tx) error {
			return tx.AlarmLanes(ctx, []store.LaneRef{{AccountID: x.owner.ID, EndpointID: x.owner.Endpoints[0]}})
		}),
		inTx("alarms", func(ctx context.Context, tx store.Tx) ([]store.LaneRef, error) { return tx.RingAlarms(ctx, 100) }),
		inTx("overdue events", func(ctx context.Context, tx store.Tx) ([]gateway.EventID, error) {
			return tx.OverdueEvents(ctx, time.Second, 100)
		}),
		inTx("expire a day", func(ctx context.Context, tx store.Tx) (map[gateway.AccountID]store.Expired, error) {
			closed, _, err := tx.ExpireDay(ctx, x.now.Truncate(24*time.Hour))
			return closed, err
		}),
		inTx("note what is open", func(ctx context.Context, tx store.Tx) ([]store.Notice, error) {
			return tx.NoteOpen(ctx, x.now.Truncate(24*time.Hour).AddDate(0, 0, -2), store.NoticeWarning)
		}),
		{name: "follow notices", do: func(ctx context.Context, _ store.Tx) error {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			x.FollowNotices(ctx, store.Notices{Sources: cancel, Relays: func(gateway.EndpointID) {}})
			return nil
		}},
	}
}
