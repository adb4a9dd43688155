package decide

import (
	"context"
	"errors"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/rule"
	"github.com/rowlock/rowlock/internal/store"
)

const (
	// siftedBytes bounds the bodies that are in memory at once to be looked at;
	// one that is larger is alone.
	siftedBytes = 4 << 20
	// siftTime is how long one transaction asks filters about several events:
	// well within what the database lets a transaction be idle, and what all of
	// it may take. One event alone is bounded by what its filters cost, and not
	// by the clock: a machine that is busy must not make anybody miss an event.
	siftTime = 2 * time.Second
)

// errSlowFilters has a batch decided in halves.
var errSlowFilters = errors.New("the filters of these events take too long together")

// refusals are the endpoints that ask for an event's type and whose filter does
// not let it through, with the reason where the filter has no answer.
type refusals map[gateway.EventID]map[gateway.EndpointID]string

// refused tells that an endpoint does not want an event, and why it could not
// be said.
func (r refusals) refused(event gateway.EventID, endpoint gateway.EndpointID) (reason string, refused bool) {
	reason, refused = r[event][endpoint]
	return reason, refused
}

// filtered are the events that somebody with a filter asks for, and who. There
// are none where nobody has a filter, and then nothing more is read.
func filtered(events []store.Undecided, candidates []store.Candidate) (asked []store.Undecided, by map[gateway.EventID][]store.Candidate) {
	var strict []store.Candidate
	for _, c := range candidates {
		if c.Filter != "" {
			strict = append(strict, c)
		}
	}
	if len(strict) == 0 {
		return nil, nil
	}
	by = map[gateway.EventID][]store.Candidate{}
	for _, e := range events {
		for _, c := range strict {
			if c.AccountID == e.AccountID && gateway.MatchesType(c.EventTypes, e.Type) {
				by[e.ID] = append(by[e.ID], c)
			}
		}
		if len(by[e.ID]) > 0 {
			asked = append(asked, e)
		}
	}
	return asked, by
}

// sift asks the filters of the candidates about the events.
func (s *Service) sift(ctx context.Context, tx store.Tx, events []store.Undecided, candidates []store.Candidate) (refusals, error) {
	asked, by := filtered(events, candidates)
	if len(asked) == 0 {
		return nil, nil
	}
	refused, ends := refusals{}, s.clock.Now().Add(siftTime)
	for part := range inParts(asked, func(e store.Undecided) int { return e.BodySize }) {
		contents, err := tx.Contents(ctx, accountsOf(pointers(part)), idsOf(pointers(part)))
		if err != nil {
			return nil, err
		}
		for _, e := range part {
			if refused[e.ID], err = s.refusalsOf(ctx, rule.NewInput(contents[e.ID]), by[e.ID]); err != nil {
				return nil, err
			}
			if s.clock.Now().After(ends) && len(events) > 1 {
				return nil, errSlowFilters
			}
		}
	}
	return refused, nil
}

// refusalsOf are the candidates whose filter does not let one event through.
func (s *Service) refusalsOf(ctx context.Context, in *rule.Input, candidates []store.Candidate) (map[gateway.EndpointID]string, error) {
	refused := map[gateway.EndpointID]string{}
	for _, c := range candidates {
		wanted, reason, err := s.wants(ctx, c.EventTypes, c.Filter, in)
		switch {
		case err != nil:
			return nil, err
		case !wanted:
			refused[c.ID] = reason
		}
	}
	return refused, nil
}

// wants asks one filter. The reason says why it has no answer, which counts as
// no; an error is ours, or the context's.
func (s *Service) wants(ctx context.Context, types []string, filter string, in *rule.Input) (wanted bool, reason string, err error) {
	wanted, err = s.filters.Wants(ctx, types, filter, in)
	if failed, ok := errors.AsType[*rule.EvalError](err); ok {
		return false, failed.Reason, nil
	}
	return wanted, "", err
}

// inParts cuts events into parts whose bodies fit into memory together.
func inParts[E any](events []E, size func(E) int) iter.Seq[[]E] {
	return func(yield func([]E) bool) {
		begin, bytes := 0, 0
		for i, e := range events {
			if i > begin && bytes+size(e) > siftedBytes {
				if !yield(events[begin:i]) {
					return
				}
				begin, bytes = i, 0
			}
			bytes += size(e)
		}
		if begin < len(events) {
			yield(events[begin:])
		}
	}
}

func accountsOf(events []*store.Undecided) []gateway.AccountID {
	accounts := map[gateway.AccountID]bool{}
	for _, e := range events {
		accounts[e.AccountID] = true
	}
	return slices.Collect(maps.Keys(accounts))
}

func idsOf(events []*store.Undecided) []gateway.EventID {
	ids := make([]gateway.EventID, len(events))
	for i, e := range events {
		ids[i] = e.ID
	}
	return ids
}
