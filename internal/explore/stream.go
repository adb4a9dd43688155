package explore

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// stream is a list of events that an index has in order, newest first.
type stream struct {
	read func(context.Context, store.Page[gateway.EventID]) ([]gateway.Event, error)
	// wants tells which of them are meant; nil wants all.
	wants func(gateway.Event) bool
}

// plan is how the events of a query are found: all of them are in one of the
// streams, and of these all checks are asked.
type plan struct {
	streams []stream
	checks  []check
	// opens tells that bodies are looked at.
	opens bool
}

// check leaves of a few events those that are meant.
type check func(context.Context, []gateway.Event) ([]gateway.Event, error)

// plan finds the shortest way to the events of a query.
func (s *Service) plan(ctx context.Context, account gateway.AccountID, q Query) (plan, error) {
	if len(q.Events) > 0 {
		return plan{streams: []stream{s.chosen(account, q.Events)}}, nil
	}
	if text := q.Search.Text(); text != "" {
		named, err := s.named(ctx, account, q, text)
		if err != nil || len(named) > 0 {
			return plan{streams: named, checks: s.sentChecks(account, q)}, err
		}
	}
	p, err := s.planByIndex(ctx, account, q)
	if err != nil {
		return p, err
	}
	if !q.Search.IsZero() {
		p.checks, p.opens = append(p.checks, s.searchCheck(account, q.Search)), true
	}
	return p, nil
}

// planByIndex is the way without a search. What is rare leads first: a subject or
// a key, then what was sent, then what the events are.
func (s *Service) planByIndex(ctx context.Context, account gateway.AccountID, q Query) (p plan, err error) {
	switch {
	case q.Subject != "" || q.Key != nil:
		return plan{streams: []stream{s.events(account, q.filter())}, checks: s.sentChecks(account, q)}, nil
	case q.Endpoint == nil && len(q.Progress) == 0:
		p.streams, err = s.byStatus(ctx, account, q)
		return p, err
	}
	p.streams = s.sent(account, q)
	if q.Endpoint == nil {
		byStatus, err := s.byStatus(ctx, account, q)
		if err != nil {
			return p, err
		}
		p.streams = append(p.streams, byStatus...)
	}
	if len(q.Progress) > 0 {
		p.checks = append(p.checks, s.statusCheck(account, q))
	}
	return p, nil
}

// events is the stream of a filter.
func (s *Service) events(account gateway.AccountID, f store.EventFilter) stream {
	return stream{read: func(ctx context.Context, page store.Page[gateway.EventID]) ([]gateway.Event, error) {
		return s.Store.Events(ctx, account, f, page)
	}}
}

// chosen is the stream of single events.
func (s *Service) chosen(account gateway.AccountID, ids []gateway.EventID) stream {
	return stream{read: func(ctx context.Context, page store.Page[gateway.EventID]) ([]gateway.Event, error) {
		events, err := s.Store.EventsByID(ctx, account, ids)
		events = keep(events, func(e gateway.Event) bool { return page.Before == nil || e.ID.Compare(*page.Before) < 0 })
		return events[:min(len(events), page.Limit)], err
	}}
}

// sentAs are the deliveries that an event has that got so far.
var sentAs = map[gateway.Progress][]store.DeliveryFilter{
	gateway.ProgressFailed:    {{Status: gateway.DeliveryFailed}},
	gateway.ProgressRetrying:  {{Status: gateway.DeliveryPending, Troubled: true}, {Status: gateway.DeliverySending, Troubled: true}},
	gateway.ProgressPending:   {{Status: gateway.DeliveryPending}, {Status: gateway.DeliverySending}},
	gateway.ProgressDelivered: {{Status: gateway.DeliveryDelivered}},
}

// sent are the streams of what was sent: to the endpoint, or as far as is asked
// for. The statuses of what an endpoint was sent are looked at one by one.
func (s *Service) sent(account gateway.AccountID, q Query) (streams []stream) {
	var filters []store.DeliveryFilter
	for _, p := range q.Progress {
		filters = append(filters, sentAs[p]...)
	}
	if q.Endpoint != nil && (len(q.Statuses) > 0 || len(q.Progress) == 0) {
		filters = []store.DeliveryFilter{{}}
	}
	var wants func(gateway.Event) bool // nil where the deliveries tell all that is asked for
	if q.Type != "" || q.Source != nil || q.Subject != "" || q.Key != nil || len(q.Progress) == 0 && len(q.Statuses) > 0 {
		wants = func(e gateway.Event) bool { return q.isOf(e) && (len(q.Progress) > 0 || q.hasStatus(e)) }
	}
	for _, f := range filters {
		f.Endpoint = q.Endpoint
		streams = append(streams, stream{
			read: func(ctx context.Context, page store.Page[gateway.EventID]) ([]gateway.Event, error) {
				return s.Store.EventsSent(ctx, account, f, page)
			},
			wants: wants,
		})
	}
	return streams
}

// isOf tells whether an event is of the type and so on that is asked for.
func (q Query) isOf(e gateway.Event) bool {
	return (q.Type == "" || e.Type == q.Type) &&
		(q.Source == nil || e.SourceID == *q.Source) &&
		(q.Subject == "" || e.Subject != nil && *e.Subject == q.Subject) &&
		(q.Key == nil || bytes.Equal(e.Key, q.Key))
}

// hasStatus tells whether an event has a status that is asked for.
func (q Query) hasStatus(e gateway.Event) bool {
	return len(q.Statuses) == 0 || slices.Contains(q.Statuses, e.Status)
}

// named are the streams of events that a text names: by id, key, subject or
// type. None: nothing is called so.
func (s *Service) named(ctx context.Context, account gateway.AccountID, q Query, text string) ([]stream, error) {
	if id, err := gateway.ParseID[gateway.EventID](text); err == nil {
		one, err := s.one(ctx, account, id)
		return []stream{{read: one.read, wants: q.isOf}}, err
	}
	var streams []stream
	for _, set := range []func(*store.EventFilter) bool{
		func(f *store.EventFilter) bool { f.Key = []byte(text); return q.Key == nil },
		func(f *store.EventFilter) bool { f.Subject = text; return q.Subject == "" },
		func(f *store.EventFilter) bool { f.Type = text; return q.Type == "" },
	} {
		f := q.filter()
		if !set(&f) {
			continue
		}
		some, err := s.Store.Events(ctx, account, f, store.Page[gateway.EventID]{Since: q.Since, Until: q.Until, Limit: 1})
		if err != nil {
			return nil, err
		}
		if len(some) > 0 {
			streams = append(streams, s.events(account, f))
		}
	}
	return streams, nil
}

// one is the stream of a single event, or of none.
func (s *Service) one(ctx context.Context, account gateway.AccountID, id gateway.EventID) (stream, error) {
	event, err := s.Store.Event(ctx, account, id)
	if err != nil && !errors.Is(err, gateway.ErrNotFound) && !errors.Is(err, gateway.ErrExpired) {
		return stream{}, err
	}
	found := err == nil
	return stream{read: func(_ context.Context, page store.Page[gateway.EventID]) ([]gateway.Event, error) {
		if !found || page.Before != nil && id.Compare(*page.Before) >= 0 ||
			!page.Since.IsZero() && id.Time().Before(page.Since) || !page.Until.IsZero() && !id.Time().Before(page.Until) {
			return nil, nil
		}
		return []gateway.Event{event}, nil
	}}, nil
}
