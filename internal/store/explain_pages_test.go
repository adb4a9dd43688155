package store_test

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/rowlock/rowlock/internal/bench/fill"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// pages are what the pages of an account read, beside the lists.
func (x *explained) pages() []call {
	return slices.Concat(x.eventPages(), x.failurePages(), x.endpointPages(), x.numberPages(), x.auditPages())
}

func (x *explained) eventPages() []call {
	account, event := x.owner.ID, x.event.ID
	return []call{
		only("progress", func(ctx context.Context) (map[gateway.EventID]store.Progress, error) {
			page, err := x.Events(ctx, account, store.EventFilter{}, store.Page[gateway.EventID]{Before: &event, Limit: listed})
			if err != nil {
				return nil, err
			}
			ids := make([]gateway.EventID, len(page))
			for i := range page {
				ids[i] = page[i].ID
			}
			return x.Progress(ctx, account, ids)
		}),
		only("copies", func(ctx context.Context) (map[gateway.EventID]int, error) {
			return x.Copies(ctx, account, []gateway.EventID{event})
		}),
		only("events by id", func(ctx context.Context) ([]gateway.Event, error) {
			return x.EventsByID(ctx, account, []gateway.EventID{event})
		}),
		only("progress at an endpoint", func(ctx context.Context) (map[gateway.EventID]store.Progress, error) {
			return x.ProgressAt(ctx, account, []gateway.EventID{event}, &x.endpoint)
		}),
		only("event's content", func(ctx context.Context) (map[gateway.EventID]gateway.Content, error) {
			return x.Contents(ctx, account, []gateway.EventID{event})
		}),
		only("event's delivery rows", func(ctx context.Context) ([]store.DeliveryRow, error) {
			return x.DeliveryRows(ctx, account, store.DeliveryFilter{Event: &event}, store.Page[gateway.DeliveryID]{Limit: listed})
		}),
		done("event's attempts", func(ctx context.Context, _ store.Tx) error {
			_, _, err := x.EventAttempts(ctx, account, event, 200)
			return err
		}),
		only("event's requests", func(ctx context.Context) ([]gateway.Request, error) {
			return x.EventRequests(ctx, account, event, listed)
		}),
		missing("request", func(ctx context.Context) error {
			_, err := x.Request(ctx, account, x.source, gateway.RequestID(event))
			return err
		}),
		missing("request's source", func(ctx context.Context) error {
			_, err := x.RequestSource(ctx, account, gateway.RequestID(event))
			return err
		}),
		only("attempt rows", func(ctx context.Context) ([]store.AttemptRow, error) {
			return x.AttemptRows(ctx, account, store.AttemptFilter{}, nil, listed)
		}),
	}
}

// failureFilters narrow groups of failures.
func (x *explained) failureFilters() map[string]store.FailureFilter {
	return map[string]store.FailureFilter{
		"all": {}, "endpoint": {Endpoint: &x.endpoint}, "idle endpoint": {Endpoint: &x.idle}, "since": {Since: x.now.Add(-24 * time.Hour)},
		"cause": {Cause: &gateway.Cause{StatusCode: 500}},
	}
}

func (x *explained) failurePages() []call {
	all := []call{
		only("count failed", func(ctx context.Context) (int, error) { return x.CountFailed(ctx, x.owner.ID, 100) }),
		only("backlog", func(ctx context.Context) (store.Backlog, error) { return x.Backlog(ctx, x.owner.ID, listed) }),
		only("last answers", func(ctx context.Context) (map[gateway.DeliveryID]store.LastAnswer, error) {
			return x.LastAnswers(ctx, x.owner.ID, []gateway.DeliveryID{x.delivery.ID})
		}),
		only("failed deliveries", func(ctx context.Context) ([]store.FailedDelivery, error) {
			return x.FailedDeliveries(ctx, x.owner.ID, x.endpoint, nil, store.Page[gateway.DeliveryID]{Limit: listed})
		}),
	}
	for name, f := range x.failureFilters() {
		all = append(all, done("failures by "+name, func(ctx context.Context, _ store.Tx) error {
			_, _, err := x.Failures(ctx, x.owner.ID, f)
			return err
		}), done("retrying by "+name, func(ctx context.Context, _ store.Tx) error {
			_, _, err := x.Retrying(ctx, x.owner.ID, f)
			return err
		}))
	}
	causes := map[string]gateway.Cause{"common cause": {StatusCode: 500}, "rare cause": fill.RareCause, "no cause": {}, "never": {ErrorKind: gateway.ErrorTLS}}
	for name, cause := range causes {
		for _, p := range x.parts() {
			for to, endpoint := range x.endpoints() {
				for _, status := range []gateway.DeliveryStatus{"", gateway.DeliveryFailed, gateway.DeliveryPending} {
					f := store.DeliveryFilter{Endpoint: endpoint, Status: status, Cause: &cause}
					all = append(all, x.deliveryList(name+" "+string(status)+to, f, p))
				}
				f := store.AttemptFilter{Endpoint: endpoint, Cause: &cause, Since: p.since, Until: p.until}
				all = append(all, x.attemptList(name+to, f, p))
			}
		}
	}
	return all
}

func (x *explained) endpointPages() []call {
	account := x.owner.ID
	return []call{
		only("health", func(ctx context.Context) (map[gateway.EndpointID]store.Health, error) {
			return x.EndpointHealth(ctx, account, append([]gateway.EndpointID{x.idle}, x.owner.Endpoints...))
		}),
		only("lane of", func(ctx context.Context) (store.LaneNow, error) { return x.LaneOf(ctx, account, x.endpoint) }),
		only("queue of", func(ctx context.Context) (store.Queue, error) { return x.QueueOf(ctx, account, x.endpoint, listed) }),
		only("troubled endpoints", func(ctx context.Context) ([]gateway.Endpoint, error) {
			return x.TroubledEndpoints(ctx, account, listed)
		}),
		only("filtered endpoints", func(ctx context.Context) ([]gateway.Endpoint, error) {
			return x.FilteredEndpoints(ctx, account, gateway.PatternsFor(x.event.Type), listed)
		}),
		only("endpoint labels", func(ctx context.Context) (map[gateway.EndpointID]store.EndpointLabel, error) {
			return x.EndpointLabels(ctx, account, x.owner.Endpoints)
		}),
		only("source labels", func(ctx context.Context) (map[gateway.SourceID]store.SourceLabel, error) {
			return x.SourceLabels(ctx, account, x.owner.Sources)
		}),
		only("source counts", func(ctx context.Context) (map[gateway.SourceID]store.SourceCount, error) {
			return x.SourceCounts(ctx, account, append([]gateway.SourceID{x.quiet}, x.owner.Sources...), 24, x.now)
		}),
	}
}

func (x *explained) numberPages() []call {
	account, w := x.owner.ID, store.LastSteps(x.now, 96, 15*time.Minute)
	return []call{
		only("series", func(ctx context.Context) ([]store.Bin, error) { return x.Series(ctx, account, nil, w) }),
		only("endpoint's series", func(ctx context.Context) ([]store.Bin, error) { return x.Series(ctx, account, &x.endpoint, w) }),
		only("totals", func(ctx context.Context) (store.Stats, error) { return x.Totals(ctx, account, nil, w) }),
		only("endpoints' totals", func(ctx context.Context) (map[gateway.EndpointID]store.Stats, error) {
			return x.EndpointTotals(ctx, account, x.owner.Endpoints, w)
		}),
		only("received from", func(ctx context.Context) ([]store.Received, error) {
			return x.ReceivedFrom(ctx, account, x.source, store.LastSteps(x.now, 24, time.Hour))
		}),
		only("received of type", func(ctx context.Context) ([]store.Received, error) {
			return x.ReceivedOfType(ctx, account, x.event.Type, store.LastSteps(x.now, 24, time.Hour))
		}),
		only("busiest types", func(ctx context.Context) ([]store.TypeCount, error) {
			return x.BusiestTypes(ctx, account, store.LastSteps(x.now, 24, time.Hour), listed)
		}),
		only("received", func(ctx context.Context) ([]store.Received, error) {
			return x.Received(ctx, account, store.LastSteps(x.now, 24, time.Hour))
		}),
		only("count types", func(ctx context.Context) (map[string]int, error) {
			return x.CountTypes(ctx, account, []string{"order.created", "none"}, x.now.Add(-24*time.Hour), listed)
		}),
		only("undeclared types", func(ctx context.Context) ([]string, error) {
			return x.UndeclaredTypes(ctx, account, x.now, listed, listed)
		}),
		only("usage by day", func(ctx context.Context) ([]store.UsageDay, error) {
			day := x.now.UTC().Truncate(24 * time.Hour)
			return x.UsageByDay(ctx, account, day.AddDate(0, 0, -30), day.AddDate(0, 0, 1))
		}),
		only("count events", func(ctx context.Context) (int, error) {
			return x.CountEvents(ctx, account, x.now.Add(-30*time.Hour), listed)
		}),
		only("pulse", func(ctx context.Context) (store.Pulse, error) { return x.Pulse(ctx, account, x.event.ID, x.now, nil) }),
		only("first steps", func(ctx context.Context) (store.Firsts, error) { return x.Firsts(ctx, account) }),
		only("quiet account's first steps", func(ctx context.Context) (store.Firsts, error) { return x.Firsts(ctx, x.b.account) }),
	}
}

func (x *explained) auditPages() []call {
	return []call{
		only("audit log", func(ctx context.Context) ([]gateway.AuditEntry, error) {
			return x.AuditLog(ctx, x.owner.ID, store.AuditFilter{}, store.Page[gateway.AuditID]{Limit: listed})
		}),
		only("audit log, narrowed", func(ctx context.Context) (all []gateway.AuditEntry, err error) {
			refused, done := true, false
			for _, f := range []store.AuditFilter{
				{Actor: gateway.ActorRowlock}, {Area: "endpoint"}, {Action: "test"}, {Object: x.endpoint.String()}, {Refused: &refused}, {Refused: &done},
			} {
				part, err := x.AuditLog(ctx, x.owner.ID, f, store.Page[gateway.AuditID]{Limit: listed})
				if err != nil {
					return nil, err
				}
				all = append(all, part...)
			}
			return all, nil
		}),
		only("audit log, changes", func(ctx context.Context) ([]gateway.AuditEntry, error) {
			return x.AuditLog(ctx, x.owner.ID, store.AuditFilter{Changes: true}, store.Page[gateway.AuditID]{Limit: listed})
		}),
		only("audit log of the instance", func(ctx context.Context) ([]gateway.AuditEntry, error) {
			return x.InstanceAudit(ctx, store.AuditFilter{}, store.Page[gateway.AuditID]{Limit: listed})
		}),
		done("audit a person and the instance", func(ctx context.Context, tx store.Tx) error {
			line := store.AuditLine{ID: gateway.AuditID(x.b.clock.NewID()), Refused: true}
			return errors.Join(
				tx.AuditPerson(ctx, gateway.UserID(x.b.clock.NewID()), gateway.ActorRowlock, "test", line),
				tx.AuditInstance(ctx, gateway.ActorRowlock, "test", line))
		}),
		only("audit of objects", func(ctx context.Context) ([]gateway.AuditEntry, error) {
			return x.AuditOf(ctx, x.owner.ID, []string{x.event.ID.String(), x.delivery.ID.String()}, listed)
		}),
	}
}
