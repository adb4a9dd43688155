package explore

import (
	"context"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

const (
	// firstRows and batchRows are how many events are read at once where each is
	// looked at: few where that may be enough, and then more and more. Of several
	// streams twice as many are read first: only what they have in common a place in
	// counts.
	firstRows, batchRows = 100, 500
	// chunkRows and chunkBytes bound what is looked at between two looks at the
	// time: the bodies that are in memory at once.
	chunkRows  = 100
	chunkBytes = 4 << 20
	// lookRows bounds what is looked at for one part, however quick it is.
	lookRows = 100_000
)

// Part is a part of a list of events, newest first.
type Part struct {
	Events []gateway.Event
	// Next is the event before which the next part begins; nil at the end.
	Next *gateway.EventID
	// Looked is how many events were looked at, where no index led to all that is
	// asked for; zero where one did.
	Looked int
	// Stopped tells that it was looked no further than Next for want of time:
	// there may be more before it.
	Stopped bool
}

// Find finds up to limit events that came in before one; nil begins with the
// newest. The list ends where Next is nil: a part with fewer events, or with
// none, says only how far it was looked. Errors: gateway.ErrRateLimited when the
// account looks for too much at once.
func (s *Service) Find(ctx context.Context, account gateway.AccountID, q Query, before *gateway.EventID, limit int) (Part, error) {
	p, err := s.plan(ctx, account, q)
	if err != nil {
		return Part{}, err
	}
	w := &walk{Service: s, plan: p, page: store.Page[gateway.EventID]{Before: before, Since: q.Since, Until: q.Until}, rows: lookRows}
	if p.opens {
		done, err := s.looks.Take(ctx, account)
		if err != nil {
			return Part{}, err
		}
		defer done()
	}
	w.ends = s.Clock.Now().Add(s.LookTime)
	return w.part(ctx, limit)
}

// walk goes over the events of a plan, newest first.
type walk struct {
	*Service
	plan

	page store.Page[gateway.EventID]
	// rows and ends bound how far it goes; zero does not.
	rows int
	ends time.Time
	// batch is how many events were read at once last.
	batch  int
	looked int
	// over tells that there are no more.
	over bool
}

// part collects events until there are enough, or the time is over. Where all
// that is found is wanted, one more tells whether there is a next part.
func (w *walk) part(ctx context.Context, limit int) (Part, error) {
	var found []gateway.Event
	want := limit
	if !w.opens {
		want++
	}
	for len(found) < want && !w.over && !w.spent() {
		some, err := w.step(ctx, want-len(found))
		if err != nil {
			return Part{}, err
		}
		found = append(found, some...)
	}
	return w.partOf(found, limit), nil
}

func (w *walk) partOf(found []gateway.Event, limit int) Part {
	p := Part{Events: found}
	switch {
	case len(found) > limit:
		p.Events, p.Next = found[:limit], &found[limit-1].ID
	case !w.over:
		p.Next = w.page.Before
		p.Stopped = len(found) < limit
	}
	if w.opens || p.Stopped {
		p.Looked = w.looked
	}
	return p
}

// strays tells that there may be others among what a stream leads to.
func (w *walk) strays() bool {
	return slices.ContainsFunc(w.streams, func(s stream) bool { return s.wants != nil })
}

// spent tells that no more may be looked at.
func (w *walk) spent() bool {
	return w.looked > 0 && (w.rows > 0 && w.looked >= w.rows || !w.ends.IsZero() && !w.Clock.Now().Before(w.ends))
}

// step reads the next events and leaves those that are meant, at most so many.
// Where it does not look at all that it has read, the next step goes on from
// there.
func (w *walk) step(ctx context.Context, most int) ([]gateway.Event, error) {
	w.page.Limit = w.rowsFor(most)
	events, next, err := w.merged(ctx)
	if err != nil {
		return nil, err
	}
	var found []gateway.Event
	for first := true; len(events) > 0 && (first || !w.spent()); first = false {
		part := chunk(events)
		events = events[len(part):]
		some, err := w.check(ctx, part)
		if err != nil {
			return nil, err
		}
		w.looked += len(part)
		if found = append(found, some...); len(found) >= most {
			found = found[:most]
			if last := found[most-1].ID; last != part[len(part)-1].ID || len(events) > 0 {
				w.page.Before = &last
				return found, nil
			}
			break
		}
		w.page.Before = &part[len(part)-1].ID
	}
	if len(events) == 0 {
		w.page.Before, w.over = next, next == nil
	}
	return found, nil
}

// rowsFor is how many events are read next where so many are wanted.
func (w *walk) rowsFor(wanted int) int {
	strays := w.strays()
	if !strays && len(w.checks) == 0 {
		return wanted
	}
	first := firstRows
	if strays && len(w.streams) > 1 {
		first *= 2
	}
	w.batch = min(max(first, 2*w.batch), batchRows)
	return w.batch
}

// chunk is as much of the events as is looked at between two looks at the time.
func chunk(events []gateway.Event) []gateway.Event {
	size := 0
	for i, e := range events[:min(len(events), chunkRows)] {
		if size += e.BodySize; size > chunkBytes && i > 0 {
			return events[:i]
		}
	}
	return events[:min(len(events), chunkRows)]
}

func (w *walk) check(ctx context.Context, events []gateway.Event) (left []gateway.Event, err error) {
	left = events
	for _, c := range w.checks {
		if len(left) == 0 {
			return nil, nil
		}
		if left, err = c(ctx, left); err != nil {
			return nil, err
		}
	}
	return left, nil
}

// merged reads the next part of every stream, and returns what all of them have
// in common a place in: further down, one may have more. next is where the
// following part begins; nil at the end.
func (w *walk) merged(ctx context.Context) (events []gateway.Event, next *gateway.EventID, err error) {
	parts, err := w.parts(ctx)
	if err != nil {
		return nil, nil, err
	}
	for i, s := range w.streams {
		some := parts[i]
		if len(some) == w.page.Limit {
			if last := some[len(some)-1].ID; next == nil || last.Compare(*next) > 0 {
				next = &last
			}
		}
		if s.wants != nil {
			read := len(some)
			some = keep(some, s.wants)
			w.looked += read - len(some)
		}
		events = append(events, some...)
	}
	if len(w.streams) > 1 {
		slices.SortFunc(events, func(a, b gateway.Event) int { return b.ID.Compare(a.ID) })
		events = slices.CompactFunc(events, func(a, b gateway.Event) bool { return a.ID == b.ID })
	}
	if next != nil {
		events = keep(events, func(e gateway.Event) bool { return e.ID.Compare(*next) >= 0 })
	}
	return events, next, nil
}

// streamsAtOnce bounds how many connections one list takes.
const streamsAtOnce = 4

// parts are the next part of every stream, read at the same time.
func (w *walk) parts(ctx context.Context) ([][]gateway.Event, error) {
	parts := make([][]gateway.Event, len(w.streams))
	reads, ctx := errgroup.WithContext(ctx)
	reads.SetLimit(streamsAtOnce)
	for i, s := range w.streams {
		reads.Go(func() (err error) {
			parts[i], err = s.read(ctx, w.page)
			return err
		})
	}
	return parts, reads.Wait()
}
