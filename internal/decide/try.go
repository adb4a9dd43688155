package decide

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/rule"
	"github.com/rowlock/rowlock/internal/store"
)

const (
	// MaxTried is how many events a filter is tried on at the most.
	MaxTried = 20
	// triedAmong is how many of the newest events are looked through for those
	// of the types.
	triedAmong = 500
	// tryTime and lookTime bound how long filters are asked for somebody who
	// waits: about several events, and about one.
	tryTime, lookTime = 3 * time.Second, time.Second
	// tookTooLong is told of what was not asked any more.
	tookTooLong = "those before it took too long"
)

// Trial is a filter that somebody wants to try.
type Trial struct {
	Filter string
	// Event is the one to try it on; nil are the newest of the types.
	Event *gateway.EventID
	// Types are an endpoint's patterns; none are all types but Rowlock's own.
	Types []string
	// Limit is how many events, up to MaxTried; zero is MaxTried.
	Limit int
}

// Verdict is what a filter says of an event.
type Verdict struct {
	Event   gateway.Event
	Matches bool
	// Reason says why the filter has no answer; empty when it has one.
	Reason string
}

// TryFilter says of real events which a filter lets through, and changes
// nothing. Those whose payload was deleted are left out. Errors:
// gateway.InvalidError for a filter that is none; gateway.ErrNotFound,
// gateway.ErrExpired and gateway.ErrPayloadGone for the event;
// gateway.ErrRateLimited when too many of the account are tried at once.
func (s *Service) TryFilter(ctx context.Context, account gateway.AccountID, t Trial) ([]Verdict, error) {
	filter := strings.TrimSpace(t.Filter)
	if filter == "" {
		return nil, gateway.Invalid("filter", "enter a filter to try it")
	}
	if _, err := s.filters.Filter(filter); err != nil {
		return nil, invalidFilter(err)
	}
	events, err := s.toTry(ctx, account, t)
	if err != nil {
		return nil, err
	}
	done, err := s.turns.Take(ctx, account)
	if err != nil {
		return nil, err
	}
	defer done()
	verdicts, ends := make([]Verdict, 0, len(events)), s.clock.Now().Add(tryTime)
	for part := range inParts(events, func(e gateway.Event) int { return e.BodySize }) {
		more, err := s.verdicts(ctx, account, filter, part, ends)
		if err != nil {
			return nil, err
		}
		verdicts = append(verdicts, more...)
	}
	return verdicts, nil
}

// invalidFilter tells what is wrong with a filter as with any other field.
func invalidFilter(err error) error {
	if wrong, ok := errors.AsType[*rule.SyntaxError](err); ok {
		return gateway.Invalid("filter", "%s", wrong)
	}
	return err
}

// toTry reads the events that a filter is tried on.
func (s *Service) toTry(ctx context.Context, account gateway.AccountID, t Trial) ([]gateway.Event, error) {
	if t.Event != nil {
		event, err := s.store.Event(ctx, account, *t.Event)
		if err == nil && event.PayloadDeletedAt != nil {
			err = gateway.ErrPayloadGone
		}
		return []gateway.Event{event}, err
	}
	newest, err := s.store.Events(ctx, account, store.EventFilter{}, store.Page[gateway.EventID]{Limit: triedAmong})
	if err != nil {
		return nil, err
	}
	limit := MaxTried
	if t.Limit > 0 {
		limit = min(t.Limit, MaxTried)
	}
	events := make([]gateway.Event, 0, limit)
	for _, e := range newest {
		if len(events) < limit && e.PayloadDeletedAt == nil && gateway.MatchesType(t.Types, e.Type) {
			events = append(events, e)
		}
	}
	return events, nil
}

// verdicts asks the filter about some events, as far as there is time.
func (s *Service) verdicts(ctx context.Context, account gateway.AccountID, filter string, events []gateway.Event, ends time.Time) ([]Verdict, error) {
	if s.clock.Now().After(ends) {
		return unanswered(events), nil
	}
	ids := make([]gateway.EventID, len(events))
	for i, e := range events {
		ids[i] = e.ID
	}
	contents, err := s.store.Contents(ctx, account, ids)
	if err != nil {
		return nil, err
	}
	verdicts := make([]Verdict, len(events))
	for i, e := range events {
		if s.clock.Now().After(ends) {
			copy(verdicts[i:], unanswered(events[i:]))
			break
		}
		verdicts[i].Event = e
		verdicts[i].Matches, verdicts[i].Reason, err = s.wants(ctx, []string{e.Type}, filter, rule.NewInput(contents[e.ID]))
		if err != nil {
			return nil, err
		}
	}
	return verdicts, nil
}

// unanswered are the verdicts of events that there was no time for.
func unanswered(events []gateway.Event) []Verdict {
	verdicts := make([]Verdict, len(events))
	for i, e := range events {
		verdicts[i] = Verdict{Event: e, Reason: tookTooLong}
	}
	return verdicts
}

// maxUnsent is how many endpoints are asked why they did not get an event.
const maxUnsent = 100

// Unsent is an endpoint that asks for an event's type, has a filter, and did
// not get the event.
type Unsent struct {
	Endpoint gateway.Endpoint
	// Matches tells that it would get it by the filter that it has now.
	Matches bool
	// Reason says why the filter has no answer; empty when it has one.
	Reason string
}

// Unsent tells which endpoints an event did not go to for their filters, as
// those are now: of the endpoints that were there when it came in and have no
// delivery of it. They are looked at when somebody asks, and kept nowhere. An
// event without a payload has none. Errors: gateway.ErrRateLimited as of
// TryFilter.
func (s *Service) Unsent(ctx context.Context, event gateway.Event, sent map[gateway.EndpointID]bool) ([]Unsent, error) {
	endpoints, err := s.store.FilteredEndpoints(ctx, event.AccountID, gateway.PatternsFor(event.Type), maxUnsent)
	if err != nil || event.PayloadDeletedAt != nil {
		return nil, err
	}
	var unsent []Unsent
	for _, e := range endpoints {
		if !sent[e.ID] && e.CreatedAt.Before(event.ID.Time().Add(time.Millisecond)) { // an id tells milliseconds
			unsent = append(unsent, Unsent{Endpoint: e})
		}
	}
	if len(unsent) == 0 {
		return nil, nil
	}
	done, err := s.turns.Take(ctx, event.AccountID)
	if err != nil {
		return nil, err
	}
	defer done()
	contents, err := s.store.Contents(ctx, event.AccountID, []gateway.EventID{event.ID})
	if err != nil {
		return nil, err
	}
	return unsent, s.explain(ctx, unsent, rule.NewInput(contents[event.ID]))
}

// explain asks each endpoint's filter, as far as there is time.
func (s *Service) explain(ctx context.Context, unsent []Unsent, in *rule.Input) error {
	ends := s.clock.Now().Add(lookTime)
	for i := range unsent {
		u := &unsent[i]
		if s.clock.Now().After(ends) {
			u.Reason = tookTooLong
			continue
		}
		var err error
		if u.Matches, u.Reason, err = s.wants(ctx, u.Endpoint.EventTypes, u.Endpoint.Filter, in); err != nil {
			return err
		}
	}
	return nil
}
