package accept

import (
	"crypto/sha256"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// part is one event of what waits.
type part struct {
	arrival
	// key is nil for an event without one: every call is a new event.
	key *store.EventKey
	// first is what came before under the same key; nil for the first itself.
	first *store.FirstEvent
}

// waiting is a request that waits for its commit: with its events, all of which
// are stored or none is, or without any, to leave a trace alone.
type waiting struct {
	parts []part
	// raw is the request itself, to be kept under rawID; nil where its one event
	// is all there is of it.
	raw   *gateway.Body
	rawID gateway.RequestID
	// guard is something that may come once within a window; nil for none.
	guard *store.ReplayGuard
	// trace is what is kept of a request that is no event; a repeat has it too.
	trace gateway.Request
	// traced tells that the request has left its trace already.
	traced bool

	// replayed tells that the guard let nothing pass.
	replayed bool
	err      error
	// gone is closed when its caller waits no more.
	gone <-chan struct{}
	// done is closed when the parts' first and err are set.
	done chan struct{}
}

func newWaiting(arrivals ...arrival) *waiting {
	w := &waiting{parts: make([]part, len(arrivals)), done: make(chan struct{})}
	for i, a := range arrivals {
		w.parts[i] = newPart(a)
	}
	return w
}

func newPart(a arrival) part {
	p := part{arrival: a}
	if a.event.Key != nil {
		p.key = &store.EventKey{
			AccountID: a.event.AccountID,
			SourceID:  a.event.SourceID,
			KeyHash:   sha256.Sum256(a.event.Key),
			EventID:   a.event.ID,
			BodyHash:  contentHash(a.event.Type, a.event.Subject, a.body.Data),
		}
	}
	return p
}

// newTrace waits to leave a trace and nothing else.
func newTrace(trace gateway.Request) *waiting {
	return &waiting{trace: trace, done: make(chan struct{})}
}

func (w *waiting) abandoned() bool {
	select {
	case <-w.gone:
		return true
	default:
		return false
	}
}

func (w *waiting) size() int {
	size := len(w.trace.Body.Data)
	for i := range w.parts {
		size += len(w.parts[i].body.Data)
	}
	if w.raw != nil {
		size += len(w.raw.Data)
	}
	return size
}

// weight is how many rows it adds to a transaction.
func (w *waiting) weight() int { return max(1, len(w.parts)) }

// outcome reads what the commit decided of the one event. A repeat whose
// content is another is gateway.ErrKeyReused, with the first event's id.
func (w *waiting) outcome() (id gateway.EventID, duplicate bool, err error) {
	p := &w.parts[0]
	switch {
	case p.first == nil:
		return p.event.ID, false, nil
	case p.first.BodyHash != p.key.BodyHash:
		return p.first.EventID, true, gateway.ErrKeyReused
	default:
		return p.first.EventID, true, nil
	}
}

// received is what became of each event.
func (w *waiting) received() []Received {
	all := make([]Received, len(w.parts))
	for i := range w.parts {
		p := &w.parts[i]
		all[i] = Received{ID: p.event.ID}
		if p.first != nil {
			all[i] = Received{ID: p.first.EventID, Duplicate: true}
		}
	}
	return all
}

// won tells that one of the events at least is the first of its key.
func (w *waiting) won() bool {
	for i := range w.parts {
		if w.parts[i].first == nil {
			return true
		}
	}
	return false
}

// duplicateTrace is what is kept of a repeat.
func (w *waiting) duplicateTrace(p *part, id gateway.RequestID) gateway.Request {
	first := p.first.EventID
	trace := gateway.Request{
		ID:          id,
		AccountID:   p.event.AccountID,
		SourceID:    p.event.SourceID,
		Cause:       gateway.CauseDuplicate,
		Answered:    w.trace.Answered,
		Sender:      w.trace.Sender,
		EventID:     &first,
		BodyDiffers: p.first.BodyHash != p.key.BodyHash,
	}
	trace.Keep(p.body)
	return trace
}

// replayTrace is what is kept of a request that the guard stopped.
func (w *waiting) replayTrace(id gateway.RequestID) gateway.Request {
	event := &w.parts[0].event
	trace := gateway.Request{
		ID: id, AccountID: event.AccountID, SourceID: event.SourceID,
		Cause: gateway.CauseReplay, Detail: replayDetail, Answered: statusReplayed, Sender: w.trace.Sender,
	}
	if w.raw != nil {
		trace.Keep(*w.raw)
	} else {
		trace.Keep(w.parts[0].body)
	}
	return trace
}
