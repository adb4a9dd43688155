package explore

import (
	"context"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// fewEvents is how many events can be looked through one by one within the time of a
// part.
const fewEvents = 5000

// byStatus are the streams of the statuses; of all events where no status is asked
// for. Each is led by one index, and what else is asked is looked at one by one: two
// things of which there are many each may never have met, and the database would
// look through all that is kept before it said so.
func (s *Service) byStatus(ctx context.Context, account gateway.AccountID, q Query) ([]stream, error) {
	statuses := q.Statuses
	if !q.statusMatters() {
		statuses = []gateway.EventStatus{""}
	}
	if len(statuses) == 0 {
		return nil, nil
	}
	lead, few, err := s.lead(ctx, account, q)
	if err != nil {
		return nil, err
	}
	streams := make([]stream, len(statuses))
	for i, status := range statuses {
		streams[i] = s.led(account, q, lead.with(status, few), status)
	}
	return streams, nil
}

// lead is what the index of a stream has in order.
type lead struct{ store.EventFilter }

// with is who leads where a status is asked for, too. That is rare, save for the
// common one, and leads unless few events have what else is asked for.
func (l lead) with(status gateway.EventStatus, few bool) store.EventFilter {
	if status == "" || status == gateway.EventProcessed || few {
		return l.EventFilter
	}
	return store.EventFilter{Status: status}
}

// led is the stream of a filter, less what else is asked for.
func (s *Service) led(account gateway.AccountID, q Query, f store.EventFilter, status gateway.EventStatus) stream {
	led := s.events(account, f)
	if f.Type != q.Type || (f.Source == nil) != (q.Source == nil) || f.Status != status {
		led.wants = func(e gateway.Event) bool { return q.isOf(e) && (status == "" || e.Status == status) }
	}
	return led
}

// lead is what leads of a type and a source: that of which there are fewer. few
// tells that these can be looked through.
func (s *Service) lead(ctx context.Context, account gateway.AccountID, q Query) (l lead, few bool, err error) {
	byType, bySource := lead{store.EventFilter{Type: q.Type}}, lead{store.EventFilter{Source: q.Source}}
	switch {
	case q.Type == "" && q.Source == nil:
		return l, false, nil
	case q.Source == nil:
		l = byType
	case q.Type == "":
		l = bySource
	}
	if (q.Type == "" || q.Source == nil) && len(q.Statuses) == 0 {
		return l, false, nil // nothing is to be compared
	}
	ofType, err := s.metered(ctx, account, Query{Type: q.Type, Since: q.Since, Until: q.Until})
	if err != nil {
		return l, false, err
	}
	ofSource, err := s.metered(ctx, account, Query{Source: q.Source, Since: q.Since, Until: q.Until})
	if err != nil {
		return l, false, err
	}
	if q.Source == nil || q.Type != "" && ofType <= ofSource {
		return byType, ofType <= fewEvents, nil
	}
	return bySource, ofSource <= fewEvents, nil
}

// metered is about how many events of a query's time there are, as they were counted
// when they were decided; none of a query that asks for nothing.
func (s *Service) metered(ctx context.Context, account gateway.AccountID, q Query) (n int64, err error) {
	if q.Type == "" && q.Source == nil || q.empty() || s.isAway(q) {
		return 0, nil
	}
	received, err := s.meter(q)(ctx, account, s.window(q, time.Hour))
	for _, r := range received {
		n += r.Events
	}
	return n, err
}
