package operate

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/rule"
	"github.com/rowlock/rowlock/internal/store"
)

const (
	// siftedAtOnce is how many events' bodies are in memory at once.
	siftedAtOnce = 8
	// siftTime is how long one look asks a filter, well within the lease: what
	// it did not get to is for the next look.
	siftTime = 2 * time.Second
)

// sift leaves of the events that were found those that the endpoint's filter
// lets through, and looks no further than for enough of them. One that has no
// answer for an event lets it not.
func (s *Service) sift(ctx context.Context, run store.OperationRun, f *found, enough int) error {
	if len(f.events) == 0 {
		return nil
	}
	endpoint, err := s.Store.Endpoint(ctx, run.AccountID, *run.Filter.Endpoint)
	switch {
	case errors.Is(err, gateway.ErrNotFound):
		f.events = nil
		return nil
	case err != nil || endpoint.Filter == "":
		return err
	}
	var wanted []store.Looked[gateway.EventID]
	asked, ends := 0, s.Clock.Now().Add(siftTime)
	for part := range slices.Chunk(f.events, siftedAtOnce) {
		more, err := s.wanted(ctx, endpoint, part)
		if err != nil {
			return err
		}
		wanted = append(wanted, more...)
		if asked += len(part); asked < len(f.events) && (len(wanted) >= enough || s.Clock.Now().After(ends)) {
			f.last, f.end = f.events[asked-1].ID, false
			break
		}
	}
	f.events = wanted
	return nil
}

// wanted are those of a few events that the endpoint's filter lets through.
func (s *Service) wanted(ctx context.Context, endpoint gateway.Endpoint, events []store.Looked[gateway.EventID]) ([]store.Looked[gateway.EventID], error) {
	ids := make([]gateway.EventID, len(events))
	for i, e := range events {
		ids[i] = e.ID
	}
	contents, err := s.Store.Contents(ctx, endpoint.AccountID, ids)
	if err != nil {
		return nil, err
	}
	var wanted []store.Looked[gateway.EventID]
	for _, e := range events {
		ok, err := s.filters.Wants(ctx, endpoint.EventTypes, endpoint.Filter, rule.NewInput(contents[e.ID]))
		if _, unanswered := errors.AsType[*rule.EvalError](err); err != nil && !unanswered {
			return nil, err
		}
		if ok {
			wanted = append(wanted, e)
		}
	}
	return wanted, nil
}
