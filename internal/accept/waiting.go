package accept

import (
	"crypto/sha256"
	"fmt"

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

// size is how many bytes it brings to a transaction: each event has the header
// and the address of its request.
func (w *waiting) size() int {
	size := sizeOf(&w.trace.Body)
	for i := range w.parts {
		size += sizeOf(&w.parts[i].body) + len(w.parts[i].event.Key)
	}
	if w.raw != nil {
		size += sizeOf(w.raw)
	}
	return size
}

func sizeOf(b *gateway.Body) int { return len(b.Data) + len(b.Headers) + len(b.Path) + len(b.Query) }

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

// duplicateTrace is what is kept of a request with repeats in it: once, however
// many they are, and with the event of the first of them.
func (w *waiting) duplicateTrace(id gateway.RequestID, repeats int) gateway.Request {
	trace := w.requestTrace(id)
	trace.Cause, trace.Answered = gateway.CauseDuplicate, w.trace.Answered
	for i := range w.parts {
		p := &w.parts[i]
		if p.first == nil {
			continue
		}
		if trace.EventID == nil {
			trace.EventID = new(p.first.EventID)
		}
		trace.BodyDiffers = trace.BodyDiffers || p.first.BodyHash != p.key.BodyHash
	}
	if len(w.parts) > 1 {
		trace.Detail = fmt.Sprintf("%d of its %d events came before.", repeats, len(w.parts))
	}
	return trace
}

// replayTrace is what is kept of a request that the guard stopped.
func (w *waiting) replayTrace(id gateway.RequestID) gateway.Request {
	trace := w.requestTrace(id)
	trace.Cause, trace.Detail, trace.Answered = gateway.CauseReplay, replayDetail, statusReplayed
	return trace
}

// requestTrace is a trace of the whole request, without its cause.
func (w *waiting) requestTrace(id gateway.RequestID) gateway.Request {
	event, whole := &w.parts[0].event, w.raw
	if whole == nil {
		whole = &w.parts[0].body
	}
	trace := gateway.Request{ID: id, AccountID: event.AccountID, SourceID: event.SourceID, Sender: w.trace.Sender}
	trace.Keep(*whole)
	return trace
}
