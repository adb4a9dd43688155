package operate

import (
	"context"
	"fmt"
	"slices"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/search"
	"github.com/rowlock/rowlock/internal/store"
)

const (
	// eventsLookedAt is how many events' deliveries one look reads.
	eventsLookedAt = 500
	// searchedAtOnce is how many deliveries' events are searched between two looks
	// at the time.
	searchedAtOnce = 50
)

// lookByEvents looks at the next deliveries of the events that a filter leads
// to.
func (s *Service) lookByEvents(ctx context.Context, run store.OperationRun, f *found, limit int) error {
	looked, err := s.Store.LookAtDeliveriesOf(ctx, run, f.last, min(limit, eventsLookedAt))
	if err != nil {
		return err
	}
	f.looked, f.last, f.end = max(looked.Looked, len(looked.Deliveries)), looked.Last, looked.End
	matching := slices.DeleteFunc(looked.Deliveries, func(d store.LookedOf) bool { return !d.Matches })
	if run.Filter.Search != "" {
		if matching, err = s.searched(ctx, run, f, matching); err != nil {
			return err
		}
	}
	for _, d := range matching {
		f.deliveries = append(f.deliveries, d.Looked)
	}
	return nil
}

// searched leaves the deliveries of events that came in with what is searched
// for, and looks no longer than siftTime: the next look goes on from there.
func (s *Service) searched(ctx context.Context, run store.OperationRun, f *found, deliveries []store.LookedOf) (left []store.LookedOf, err error) {
	q, err := search.Parse(run.Filter.Search)
	if err != nil {
		return nil, fmt.Errorf("read what is searched for: %w", err)
	}
	ends := s.Clock.Now().Add(siftTime)
	for part := range slices.Chunk(deliveries, searchedAtOnce) {
		holds := map[gateway.EventID]bool{}
		ids := make([]gateway.EventID, len(part))
		for i, d := range part {
			ids[i] = d.EventID
		}
		err := s.Store.EachArrived(ctx, run.AccountID, ids, func(id gateway.EventID, headers, body []byte) {
			holds[id] = q.Matches(headers, body)
		})
		if err != nil {
			return nil, err
		}
		for _, d := range part {
			if holds[d.EventID] {
				left = append(left, d)
			}
		}
		if last := part[len(part)-1]; s.Clock.Now().After(ends) && last.ID != deliveries[len(deliveries)-1].ID {
			f.last, f.end = last.ID, false
			break
		}
	}
	return left, nil
}
