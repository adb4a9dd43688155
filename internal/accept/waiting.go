package accept

import (
	"crypto/sha256"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// waiting is a request that waits for its commit.
type waiting struct {
	arrival
	// key is nil for an event without one: every call is a new event.
	key *store.EventKey
	// rejected requests leave a trace and nothing else.
	rejected bool

	// first is what came before under the same key; nil for the first itself.
	first *store.FirstEvent
	err   error
	// gone is closed when its caller waits no more.
	gone <-chan struct{}
	// done is closed when first and err are set.
	done chan struct{}
}

func newWaiting(a arrival) *waiting {
	w := &waiting{arrival: a, done: make(chan struct{})}
	if a.event.Key != nil {
		w.key = &store.EventKey{
			AccountID: a.event.AccountID,
			SourceID:  a.event.SourceID,
			KeyHash:   sha256.Sum256(a.event.Key),
			EventID:   a.event.ID,
			BodyHash:  contentHash(a.event.Type, a.event.Subject, a.body.Data),
		}
	}
	return w
}

func newRejected(trace gateway.Request) *waiting {
	return &waiting{arrival: arrival{trace: trace}, rejected: true, done: make(chan struct{})}
}

func (w *waiting) abandoned() bool {
	select {
	case <-w.gone:
		return true
	default:
		return false
	}
}

func (w *waiting) size() int { return len(w.body.Data) + len(w.trace.Body.Data) }

// outcome reads what the commit decided. A repeat whose content is another is
// gateway.ErrKeyReused, with the first event's id.
func (w *waiting) outcome() (id gateway.EventID, duplicate bool, err error) {
	switch {
	case w.first == nil:
		return w.event.ID, false, nil
	case w.first.BodyHash != w.key.BodyHash:
		return w.first.EventID, true, gateway.ErrKeyReused
	default:
		return w.first.EventID, true, nil
	}
}

// duplicateTrace is what is kept of a repeat.
func (w *waiting) duplicateTrace(id gateway.RequestID) gateway.Request {
	first := w.first.EventID
	return gateway.Request{
		ID:          id,
		AccountID:   w.event.AccountID,
		SourceID:    w.event.SourceID,
		Cause:       gateway.CauseDuplicate,
		EventID:     &first,
		BodyDiffers: w.first.BodyHash != w.key.BodyHash,
		Body:        cut(w.body),
		BodySize:    len(w.body.Data),
	}
}

// cut bounds how much of a request's body is kept.
func cut(b gateway.Body) gateway.Body {
	b.Data = b.Data[:min(len(b.Data), gateway.MaxRequestBody)]
	return b
}
