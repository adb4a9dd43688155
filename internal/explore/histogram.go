package explore

import (
	"context"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// Histogram is when events came in.
type Histogram struct {
	// Step is how long each bin is.
	Step time.Duration
	Bins []Bin
	// Attempts tells that it counts the attempts to an endpoint, and how they
	// ended, instead of events.
	Attempts bool
}

// Bin is one step of a histogram.
type Bin struct {
	At time.Time
	// Events is how many came in; of attempts it is how many succeeded.
	Events int64
	// Retried and GaveUp are attempts that failed, and those of them that were
	// their delivery's last.
	Retried, GaveUp int64
}

const (
	// countedEvents bounds the events that are counted one by one, in an index.
	countedEvents = 10_000
	// mostBins bounds how many a histogram has.
	mostBins = 100
	// fewestBins is how many it must have to be made of whole hours.
	fewestBins = 6
)

// steps are the lengths that a bin can have: each is a part of a day.
var steps = []time.Duration{
	time.Minute, 2 * time.Minute, 5 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour,
}

// window is the time of a query in steps that are no shorter than one. A query
// without a beginning goes back as far as events are kept.
func (s *Service) window(q Query, shortest time.Duration) store.Window {
	now := s.Clock.Now().UTC()
	since, until := q.Since.UTC(), q.Until.UTC()
	if oldest := now.Add(-s.Retention); since.Before(oldest) {
		since = oldest
	}
	if q.Until.IsZero() || until.After(now) {
		until = now
	}
	for _, step := range steps {
		w := store.Window{Since: since.Truncate(step), Until: until.Add(step - 1).Truncate(step), Step: step}
		if step >= shortest && w.Until.Sub(w.Since) <= mostBins*step {
			return w
		}
	}
	const day = 24 * time.Hour
	return store.Window{Since: since.Truncate(day), Until: until.Add(day - 1).Truncate(day), Step: day}
}

// Histogram tells when the events of a query came in, where that is known
// without counting them all: from what is counted when they are decided, or of
// few of them from an index. nil is not known.
func (s *Service) Histogram(ctx context.Context, account gateway.AccountID, q Query) (*Histogram, error) {
	// Of one key there are few events, which need no picture.
	if q.empty() || s.isAway(q) || !q.Search.IsZero() || len(q.Progress) > 0 || q.Key != nil {
		return nil, nil //nolint:nilnil // the document says what it means
	}
	if q.Endpoint != nil {
		return s.attempts(ctx, account, q)
	}
	w := s.window(q, time.Hour)
	if read := s.meter(q); read != nil && w.Until.Sub(w.Since) >= fewestBins*time.Hour {
		return meterBins(ctx, account, w, read)
	}
	return s.counted(ctx, account, q)
}

// isAway tells that all of a query's time is before what is kept, or has yet to come.
func (s *Service) isAway(q Query) bool {
	now := s.Clock.Now()
	return !q.Until.IsZero() && !q.Until.After(now.Add(-s.Retention)) || q.Since.After(now)
}

// meter is what counts the events of a query by the hour; nil where nothing does.
func (s *Service) meter(q Query) func(context.Context, gateway.AccountID, store.Window) ([]store.Received, error) {
	switch {
	case q.Subject != "" || len(q.Statuses) > 0 || q.Source != nil && q.Type != "":
		return nil
	case q.Source != nil:
		return func(ctx context.Context, account gateway.AccountID, w store.Window) ([]store.Received, error) {
			return s.Store.ReceivedFrom(ctx, account, *q.Source, w)
		}
	case q.Type != "":
		return func(ctx context.Context, account gateway.AccountID, w store.Window) ([]store.Received, error) {
			return s.Store.ReceivedOfType(ctx, account, q.Type, w)
		}
	}
	return s.Store.Received
}

func meterBins(ctx context.Context, account gateway.AccountID, w store.Window, read func(context.Context, gateway.AccountID, store.Window) ([]store.Received, error)) (*Histogram, error) {
	received, err := read(ctx, account, w)
	if err != nil {
		return nil, err
	}
	h := &Histogram{Step: w.Step}
	for _, r := range received {
		h.Bins = append(h.Bins, Bin{At: r.At, Events: r.Events})
	}
	return h, nil
}

// attempts are those to the endpoint of a query that asks for nothing else.
func (s *Service) attempts(ctx context.Context, account gateway.AccountID, q Query) (*Histogram, error) {
	if q.Type != "" || q.Source != nil || q.Subject != "" || len(q.Statuses) > 0 {
		return nil, nil //nolint:nilnil // not known
	}
	w := s.window(q, time.Minute)
	series, err := s.Store.Series(ctx, account, q.Endpoint, w)
	if err != nil {
		return nil, err
	}
	h := &Histogram{Step: w.Step, Attempts: true}
	for _, b := range series {
		h.Bins = append(h.Bins, Bin{At: b.At, Events: b.Succeeded, Retried: b.Retried(), GaveUp: b.GaveUp})
	}
	return h, nil
}

// counted counts the events themselves, as long as an index has them and there
// are not too many.
func (s *Service) counted(ctx context.Context, account gateway.AccountID, q Query) (*Histogram, error) {
	if !q.byOneIndex() {
		return nil, nil //nolint:nilnil // not known
	}
	w := s.window(q, time.Minute)
	h := &Histogram{Step: w.Step}
	for at := w.Since; at.Before(w.Until); at = at.Add(w.Step) {
		h.Bins = append(h.Bins, Bin{At: at})
	}
	statuses := q.Statuses
	if len(statuses) == 0 {
		statuses = []gateway.EventStatus{""}
	}
	left := countedEvents
	for _, status := range statuses {
		f := q.filter()
		f.Status = status
		times, err := s.Store.EventTimes(ctx, account, f, store.Page[gateway.EventID]{Since: laterOf(q.Since, w.Since), Until: q.Until, Limit: left + 1})
		if left -= len(times); err != nil || left < 0 {
			return nil, err
		}
		for _, at := range times {
			if i := int(at.Sub(w.Since) / w.Step); i < len(h.Bins) {
				h.Bins[i].Events++
			}
		}
	}
	return h, nil
}

func laterOf(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// byOneIndex tells that the query asks for one thing alone, which an index has
// in the order of time.
func (q Query) byOneIndex() bool {
	n := 0
	for _, asked := range []bool{q.Type != "", q.Source != nil, q.Subject != "", len(q.Statuses) > 0} {
		if asked {
			n++
		}
	}
	return n <= 1
}
