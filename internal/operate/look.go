package operate

import (
	"context"
	"errors"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// found is what a look found: deliveries or events, by the operation's kind.
type found struct {
	deliveries []store.Looked[gateway.DeliveryID]
	events     []store.Looked[gateway.EventID]
	// looked is how many were looked at, and last the last of them; where the
	// look began, if there was none. end: there are no more.
	looked int
	last   [16]byte
	end    bool
}

func (f *found) count() int { return len(f.deliveries) + len(f.events) }

// cut leaves what is above a number for later.
func (f *found) cut(most int) {
	if len(f.deliveries) > most {
		f.deliveries = f.deliveries[:most]
		f.last, f.end = f.deliveries[most-1].ID, false
	}
	if len(f.events) > most {
		f.events = f.events[:most]
		f.last, f.end = f.events[most-1].ID, false
	}
}

// look looks at the next things after an id, and finds those that the operation
// is about: where it is dear to tell, about enough of them.
func (s *Service) look(ctx context.Context, run store.OperationRun, after [16]byte, limit, enough int) (f found, err error) {
	f.last = after
	switch run.Kind {
	case gateway.OperationRecoverFailed, gateway.OperationRedeliver:
		if run.Filter.OfEvents() {
			return f, s.lookByEvents(ctx, run, &f, limit)
		}
		looked, err := s.Store.LookAtDeliveries(ctx, run, after, limit)
		f.deliveries = note(&f, looked, limit)
		return f, err
	case gateway.OperationReprocess:
		looked, err := s.Store.LookAtEvents(ctx, run, after, limit)
		f.events = note(&f, looked, limit)
		return f, err
	case gateway.OperationRecoverMissing:
		limit = min(limit, lookedAt)
		looked, err := s.Store.LookAtEvents(ctx, run, after, limit)
		if err != nil {
			return f, err
		}
		if f.events, err = s.missing(ctx, run, note(&f, looked, limit)); err != nil {
			return f, err
		}
		return f, s.sift(ctx, run, &f, enough)
	case gateway.OperationReconcile:
		return f, s.lookAtMissing(ctx, run, &f, min(limit, lookedAt, enough))
	}
	return f, errors.New("an operation of no known kind")
}

// note keeps how far a look got, and returns what matches.
func note[I gateway.AnyID](f *found, looked []store.Looked[I], limit int) []store.Looked[I] {
	f.looked, f.end = len(looked), len(looked) < limit
	if len(looked) > 0 {
		f.last = looked[len(looked)-1].ID
	}
	var matching []store.Looked[I]
	for _, l := range looked {
		if l.Matches {
			matching = append(matching, l)
		}
	}
	return matching
}

// missing leaves of events those that the endpoint asks for and never got. An
// endpoint that was deleted wants nothing.
func (s *Service) missing(ctx context.Context, run store.OperationRun, events []store.Looked[gateway.EventID]) ([]store.Looked[gateway.EventID], error) {
	endpoint, err := s.Store.Endpoint(ctx, run.AccountID, *run.Filter.Endpoint)
	switch {
	case errors.Is(err, gateway.ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, err
	}
	var wanted []store.Looked[gateway.EventID]
	var ids []gateway.DeliveryID
	for _, e := range events {
		if wants(endpoint, e) {
			wanted = append(wanted, e)
			ids = append(ids, gateway.DeriveDeliveryID(e.ID, endpoint.ID))
		}
	}
	known, err := s.Store.KnownDeliveries(ctx, run.AccountID, ids)
	if err != nil {
		return nil, err
	}
	var missing []store.Looked[gateway.EventID]
	for i, e := range wanted {
		if !known[ids[i]] {
			missing = append(missing, e)
		}
	}
	return missing, nil
}

// wants tells whether an endpoint asks for an event.
func wants(endpoint gateway.Endpoint, event store.Looked[gateway.EventID]) bool {
	return gateway.MatchesType(endpoint.EventTypes, event.EventType)
}
