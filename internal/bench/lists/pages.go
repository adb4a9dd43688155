package main

import (
	"context"
	"time"

	"github.com/rowlock/rowlock/internal/bench/fill"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// ask adds a question whose answer is one thing.
func ask[V any](p *planner, name string, read func(context.Context) (V, error)) {
	p.add(name, func(ctx context.Context) (int, error) {
		_, err := read(ctx)
		return 1, err
	})
}

// many adds a question whose answer is several things.
func many[V any](p *planner, name string, read func(context.Context) ([]V, error)) {
	p.add(name, func(ctx context.Context) (int, error) {
		all, err := read(ctx)
		return len(all), err
	})
}

// each adds a question that is answered for each of several ids.
func each[I comparable, V any](p *planner, name string, read func(context.Context) (map[I]V, error)) {
	p.add(name, func(ctx context.Context) (int, error) {
		all, err := read(ctx)
		return len(all), err
	})
}

// causes are by what the pages of failures list.
var causes = map[string]gateway.Cause{
	"500": {StatusCode: 500}, "rare": fill.RareCause, "never": {ErrorKind: gateway.ErrorTLS},
}

// eventPages are what the pages of events read beside the lists.
func (p *planner) eventPages(sample gateway.Event) {
	account := p.account.ID
	each(p, "progress of a page of events", func(ctx context.Context) (map[gateway.EventID]store.Progress, error) {
		page, err := p.store.Events(ctx, account, store.EventFilter{}, store.Page[gateway.EventID]{Before: &sample.ID, Limit: pageSize})
		if err != nil {
			return nil, err
		}
		ids := make([]gateway.EventID, len(page))
		for i := range page {
			ids[i] = page[i].ID
		}
		return p.store.Progress(ctx, account, ids)
	})
	many(p, "event's deliveries", func(ctx context.Context) ([]store.DeliveryRow, error) {
		return p.store.DeliveryRows(ctx, account, store.DeliveryFilter{Event: &sample.ID}, store.Page[gateway.DeliveryID]{Limit: pageSize})
	})
	many(p, "event's attempts", func(ctx context.Context) ([]gateway.Attempt, error) {
		all, _, err := p.store.EventAttempts(ctx, account, sample.ID, 200)
		return all, err
	})
	many(p, "event's duplicates", func(ctx context.Context) ([]gateway.Request, error) {
		return p.store.EventRequests(ctx, account, sample.ID, pageSize)
	})
	many(p, "audit of an event", func(ctx context.Context) ([]gateway.AuditEntry, error) {
		return p.store.AuditOf(ctx, account, []string{sample.ID.String()}, pageSize)
	})
}

// failurePages are the failures, grouped and one group at a time.
func (p *planner) failurePages() {
	first := p.account.Endpoints[0]
	for name, f := range map[string]store.FailureFilter{"": {}, ", endpoint": {Endpoint: &first}, ", one day": {Since: p.history.Until.AddDate(0, 0, -1)}} {
		many(p, "failures by cause"+name, func(ctx context.Context) ([]store.FailureGroup, error) {
			groups, _, err := p.store.Failures(ctx, p.account.ID, f)
			return groups, err
		})
	}
	ask(p, "count failed, to 1,000", func(ctx context.Context) (int, error) { return p.store.CountFailed(ctx, p.account.ID, 1000) })
	for name, cause := range causes {
		for to, endpoint := range map[string]*gateway.EndpointID{"": nil, "endpoint ": &first} {
			p.deliveryList("failed "+to+"by cause "+name, store.DeliveryFilter{Endpoint: endpoint, Status: gateway.DeliveryFailed, Cause: &cause})
			p.deliveryList(to+"by cause "+name, store.DeliveryFilter{Endpoint: endpoint, Cause: &cause})
			p.attemptList(to+"by cause "+name, store.AttemptFilter{Endpoint: endpoint, Cause: &cause})
		}
	}
	many(p, "attempt rows", func(ctx context.Context) ([]store.AttemptRow, error) {
		return p.store.AttemptRows(ctx, p.account.ID, store.AttemptFilter{}, nil, pageSize)
	})
}

// endpointPages are the lists of endpoints and sources, with how they do.
func (p *planner) endpointPages() {
	account, until := p.account, p.history.Until
	each(p, "endpoint health", func(ctx context.Context) (map[gateway.EndpointID]store.Health, error) {
		return p.store.EndpointHealth(ctx, account.ID, account.Endpoints)
	})
	ask(p, "backlog, to 1,000 each", func(ctx context.Context) (store.Backlog, error) { return p.store.Backlog(ctx, account.ID, 1000) })
	many(p, "troubled endpoints", func(ctx context.Context) ([]gateway.Endpoint, error) {
		return p.store.TroubledEndpoints(ctx, account.ID, pageSize)
	})
	each(p, "source counts, 24 h", func(ctx context.Context) (map[gateway.SourceID]store.SourceCount, error) {
		return p.store.SourceCounts(ctx, account.ID, account.Sources, 24, until)
	})
}

// windows are the times that a page can show.
func (p *planner) windows() map[string]store.Window {
	until := p.history.Until
	return map[string]store.Window{
		"1 h":  store.LastSteps(until, 60, time.Minute),
		"24 h": store.LastSteps(until, 96, 15*time.Minute),
		"7 d":  store.LastSteps(until, 84, 2*time.Hour),
		"30 d": store.LastSteps(until, 120, 6*time.Hour),
	}
}

// numberPages are the numbers of the overview and of an endpoint.
func (p *planner) numberPages() {
	account := p.account
	for name, w := range p.windows() {
		many(p, "series, "+name, func(ctx context.Context) ([]store.Bin, error) { return p.store.Series(ctx, account.ID, nil, w) })
		many(p, "endpoint series, "+name, func(ctx context.Context) ([]store.Bin, error) {
			return p.store.Series(ctx, account.ID, &account.Endpoints[0], w)
		})
		ask(p, "totals, "+name, func(ctx context.Context) (store.Stats, error) { return p.store.Totals(ctx, account.ID, nil, w) })
		each(p, "totals of endpoints, "+name, func(ctx context.Context) (map[gateway.EndpointID]store.Stats, error) {
			return p.store.EndpointTotals(ctx, account.ID, account.Endpoints, w)
		})
	}
	many(p, "received, 7 d", func(ctx context.Context) ([]store.Received, error) {
		return p.store.Received(ctx, account.ID, store.LastSteps(p.history.Until, 84, 2*time.Hour))
	})
	ask(p, "count events of an hour, to 10,000", func(ctx context.Context) (int, error) {
		return p.store.CountEvents(ctx, account.ID, p.history.Until.Add(-time.Hour), 10_000)
	})
	ask(p, "pulse", func(ctx context.Context) (store.Pulse, error) {
		return p.store.Pulse(ctx, account.ID, gateway.FirstIDAt[gateway.EventID](p.history.Until.Add(-time.Minute)), p.history.Until.Add(-10*time.Minute), nil)
	})
	ask(p, "first steps", func(ctx context.Context) (store.Firsts, error) { return p.store.Firsts(ctx, account.ID) })
	many(p, "audit log", func(ctx context.Context) ([]gateway.AuditEntry, error) {
		return p.store.AuditLog(ctx, account.ID, store.AuditFilter{}, store.Page[gateway.AuditID]{Limit: pageSize})
	})
}
