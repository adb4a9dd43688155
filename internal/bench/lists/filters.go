package main

import (
	"context"
	"time"

	"github.com/rowlock/rowlock/internal/bench/fill"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

func (p *planner) events(sample gateway.Event) {
	add := func(name string, f store.EventFilter) {
		pages(p, "events "+name, func(ctx context.Context, page store.Page[gateway.EventID]) (int, error) {
			rows, err := p.store.Events(ctx, p.account.ID, f, page)
			return len(rows), err
		})
	}
	add("all", store.EventFilter{})
	add("type", store.EventFilter{Type: sample.Type})
	add("rare type", store.EventFilter{Type: fill.RareType})
	add("unknown type", store.EventFilter{Type: "no.such"})
	add("subject", store.EventFilter{Subject: *sample.Subject})
	add("key", store.EventFilter{Key: sample.Key})
	add("source", store.EventFilter{Source: &sample.SourceID})
	add("source and rare type", store.EventFilter{Source: &sample.SourceID, Type: fill.RareType})
	for _, status := range gateway.EventStatuses {
		add(string(status), store.EventFilter{Status: status})
	}
	p.add("event", func(ctx context.Context) (int, error) {
		_, err := p.store.Event(ctx, p.account.ID, sample.ID)
		return 1, err
	})
	p.add("event body", func(ctx context.Context) (int, error) {
		_, err := p.store.Body(ctx, p.account.ID, sample.ID)
		return 1, err
	})
	p.add("event summary", func(ctx context.Context) (int, error) {
		counts, err := p.store.DeliverySummary(ctx, p.account.ID, sample.ID)
		return len(counts), err
	})
}

func (p *planner) deliveries(sample gateway.Event) {
	first := p.account.Endpoints[0]
	p.deliveryList("all", store.DeliveryFilter{})
	p.deliveryList("endpoint", store.DeliveryFilter{Endpoint: &first})
	p.deliveryList("event", store.DeliveryFilter{Event: &sample.ID})
	for _, status := range gateway.DeliveryStatuses {
		p.deliveryList(string(status), store.DeliveryFilter{Status: status})
		p.deliveryList("endpoint "+string(status), store.DeliveryFilter{Status: status, Endpoint: &first})
	}
	for _, outcome := range gateway.Outcomes {
		p.deliveryList("outcome "+string(outcome), store.DeliveryFilter{Outcome: outcome})
		p.deliveryList("endpoint outcome "+string(outcome), store.DeliveryFilter{Outcome: outcome, Endpoint: &first})
	}
}

func (p *planner) deliveryList(name string, f store.DeliveryFilter) {
	pages(p, "deliveries "+name, func(ctx context.Context, page store.Page[gateway.DeliveryID]) (int, error) {
		rows, err := p.store.Deliveries(ctx, p.account.ID, f, page)
		return len(rows), err
	})
}

func (p *planner) attempts(ctx context.Context, sample gateway.Event) error {
	deliveries, err := p.store.Deliveries(ctx, p.account.ID, store.DeliveryFilter{Event: &sample.ID}, store.Page[gateway.DeliveryID]{Limit: 1})
	if err != nil {
		return err
	}
	first := p.account.Endpoints[0]
	p.attemptList("all", store.AttemptFilter{})
	p.attemptList("endpoint", store.AttemptFilter{Endpoint: &first})
	for _, outcome := range gateway.Outcomes {
		p.attemptList(string(outcome), store.AttemptFilter{Outcome: outcome})
		p.attemptList("endpoint "+string(outcome), store.AttemptFilter{Outcome: outcome, Endpoint: &first})
	}
	for _, d := range deliveries {
		p.attemptList("delivery", store.AttemptFilter{Delivery: &d.ID})
		p.add("delivery", func(ctx context.Context) (int, error) {
			_, err := p.store.Delivery(ctx, p.account.ID, d.ID)
			return 1, err
		})
		p.add("delivery attempts", func(ctx context.Context) (int, error) {
			rows, err := p.store.DeliveryAttempts(ctx, p.account.ID, d.ID)
			return len(rows), err
		})
	}
	return nil
}

// attemptList adds a list of attempts, whose order is not that of ids.
func (p *planner) attemptList(name string, f store.AttemptFilter) {
	add := func(what string, f store.AttemptFilter, before *store.AttemptCursor) {
		p.add("attempts "+name+what, func(ctx context.Context) (int, error) {
			rows, err := p.store.Attempts(ctx, p.account.ID, f, before, pageSize)
			return len(rows), err
		})
	}
	add("", f, nil)
	add(", deep cursor", f, &store.AttemptCursor{StartedAt: p.middle, N: 1})
	f.Since, f.Until = p.middle.Add(-time.Hour), p.middle
	add(", one old hour", f, nil)
}

func (p *planner) requests() {
	for _, cause := range []string{"", gateway.CauseDuplicate, "body_too_large"} {
		pages(p, "requests "+cause, func(ctx context.Context, page store.Page[gateway.RequestID]) (int, error) {
			rows, err := p.store.Requests(ctx, p.account.ID, p.account.Sources[1], cause, page)
			return len(rows), err
		})
	}
}

// owners are what hangs on the account alone, and the numbers of its pages.
func (p *planner) owners() {
	p.add("endpoints", func(ctx context.Context) (int, error) {
		rows, err := p.store.Endpoints(ctx, p.account.ID, store.Page[gateway.EndpointID]{Limit: pageSize})
		return len(rows), err
	})
	p.add("sources", func(ctx context.Context) (int, error) {
		rows, err := p.store.Sources(ctx, p.account.ID, store.Page[gateway.SourceID]{Limit: pageSize})
		return len(rows), err
	})
	p.add("endpoint stats, 24 h", func(ctx context.Context) (int, error) {
		_, err := p.store.EndpointStats(ctx, p.account.ID, p.account.Endpoints[0], p.history.Until.Add(-24*time.Hour))
		return 1, err
	})
	p.add("stored bytes", func(ctx context.Context) (int, error) {
		_, err := p.store.StoredBytes(ctx, p.account.ID, p.history.Until.AddDate(0, -1, 0))
		return 1, err
	})
}
