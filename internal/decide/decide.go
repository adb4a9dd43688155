// Package decide says, once, what each event means: which endpoints get it.
// Deliveries, what wakes their lanes and the usage are written in the
// transaction that decides.
package decide

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/rowlock/rowlock/internal/clock"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/job"
	"github.com/rowlock/rowlock/internal/rule"
	"github.com/rowlock/rowlock/internal/store"
)

// Service decides events.
type Service struct {
	store *store.Store
	clock *clock.Clock
	log   *slog.Logger
	node  string
	wake  func([]store.LaneRef)
	meter func(Round)
	local offers
	// filters are those of endpoints, compiled.
	filters *rule.Filters
	// rules are those of sources, compiled.
	rules *rule.Rules
	// turns are those of people who ask what a filter says.
	turns *rule.Turns
}

// Options are what a Service is made of.
type Options struct {
	Store *store.Store
	Clock *clock.Clock
	Log   *slog.Logger
	// Node names this process in the usage rows.
	Node string
	// Wake is told which lanes got work, after the commit; their alarms wake the
	// other nodes. It must not block. Where it is nil, jobs wake the lanes.
	Wake func([]store.LaneRef)
	// Tell is told of each transaction that decided something, after the commit.
	// It must not block. May be nil.
	Tell func(Round)
}

// New makes a Service.
func New(o Options) *Service {
	meter := o.Tell
	if meter == nil {
		meter = func(Round) {}
	}
	return &Service{
		store: o.Store, clock: o.Clock, log: o.Log, node: o.Node, wake: o.Wake, meter: meter,
		filters: rule.NewFilters(), rules: rule.NewRules(), turns: rule.NewTurns(),
	}
}

// transactionTime bounds one transaction of deciding: what takes longer is
// tried again in halves.
const transactionTime = 10 * time.Second

// Process decides those of the events that are still undecided, together; if
// that fails, in halves, down to each by itself, so that a bad event costs its
// neighbours nothing and a large fan-out gets through in parts. Doing it again,
// or twenty times at once, changes nothing.
//
// What came before an event from a source that tells facts, and is not decided
// yet, is decided before it or with it, so that its reports are judged in the
// order in which they came. Where that fails it is left out: it may be what cannot
// be decided.
func (s *Service) Process(ctx context.Context, ids []gateway.EventID) error {
	for {
		more, err := s.inOrder(ctx, ids, true)
		if err != nil || !more {
			return err
		}
	}
}

// inOrder decides events with what came before them, or, if that is much, some of
// that alone: then there is more. Who is not patient leaves it all then.
func (s *Service) inOrder(ctx context.Context, ids []gateway.EventID, patient bool) (more bool, err error) {
	along := false
	err = s.processTogether(ctx, func(ctx context.Context, tx store.Tx) (first []gateway.EventID, err error) {
		first, more, err = tx.InOrder(ctx, ids)
		along = more || len(first) > len(ids)
		if more && !patient {
			return nil, err
		}
		return first, err
	})
	switch {
	case ctx.Err() == nil && store.IsAwaiting(err):
		return true, nil
	case ctx.Err() == nil && err != nil && along:
		s.log.Warn("deciding without what came before", "events", len(ids), "error", err)
		return false, s.alone(ctx, ids)
	case err != nil:
		return false, s.inHalves(ctx, ids, err)
	}
	return more, nil
}

// alone decides events without what came before them.
func (s *Service) alone(ctx context.Context, ids []gateway.EventID) error {
	err := s.processTogether(ctx, func(context.Context, store.Tx) ([]gateway.EventID, error) { return ids, nil })
	return s.inHalves(ctx, ids, err)
}

// inHalves goes on after events could not be decided together.
func (s *Service) inHalves(ctx context.Context, ids []gateway.EventID, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil, errors.Is(err, gateway.ErrUnavailable) && !store.IsSlow(err):
		return err
	case len(ids) == 1:
		return fmt.Errorf("decide %s: %w", ids[0], err)
	}
	s.log.Warn("deciding in halves", "events", len(ids), "error", err)
	half := len(ids) / 2
	return errors.Join(s.alone(ctx, ids[:half]), s.alone(ctx, ids[half:]))
}

func (s *Service) processTogether(ctx context.Context, which func(context.Context, store.Tx) ([]gateway.EventID, error)) error {
	ctx, cancel := context.WithTimeout(ctx, transactionTime)
	defer cancel()
	began := s.clock.Now()
	var p planned
	err := s.store.InTx(ctx, func(tx store.Tx) error {
		ids, err := which(ctx, tx)
		if err != nil {
			return err
		}
		p, err = s.decide(ctx, tx, ids)
		return err
	})
	if err == nil {
		if s.wake != nil {
			s.wake(p.lanes)
		}
		s.tellOf(p, began)
	}
	return err
}

// rouse has lanes that get work drained: by this node, which is told after the
// commit, and if that is lost or it has no time by any other, at the lanes' alarms.
func (s *Service) rouse(ctx context.Context, tx store.Tx, lanes []store.LaneRef) error {
	if s.wake == nil {
		return tx.Enqueue(ctx, job.Delivers(lanes)...)
	}
	return tx.AlarmLanes(ctx, lanes)
}

// decide is the transaction: the decide-once guard, the rules and the guard of
// facts, the fan-out, the alarms, and last the rows that other transactions may wait
// for.
func (s *Service) decide(ctx context.Context, tx store.Tx, ids []gateway.EventID) (p planned, err error) {
	events, err := tx.TakeUndecided(ctx, ids)
	if err != nil || len(events) == 0 {
		return p, err
	}
	paused, err := pausedSources(ctx, tx, events)
	if err != nil {
		return p, err
	}
	ended, err := s.interpret(ctx, tx, events, paused)
	if err != nil {
		return p, err
	}
	if err := endWithoutSubject(ctx, tx, events, paused, ended); err != nil {
		return p, err
	}
	candidates, err := candidatesFor(ctx, tx, events)
	if err != nil {
		return p, err
	}
	refused, err := s.sift(ctx, tx, told(events, paused, ended), candidates)
	if err != nil {
		return p, err
	}
	p = plan(events, paused, ended, candidates, refused)
	if _, err := tx.InsertDeliveries(ctx, p.deliveries); err != nil {
		return p, err
	}
	if err := tx.SetDecisions(ctx, p.decisions); err != nil {
		return p, err
	}
	if err := putOff(ctx, tx, events, ended); err != nil {
		return p, err
	}
	if err := s.rouse(ctx, tx, p.lanes); err != nil {
		return p, err
	}
	return p, tx.AddUsage(ctx, s.node, p.usage, p.types)
}

// pausedSources locks the paused sources among the events', if there are any.
func pausedSources(ctx context.Context, tx store.Tx, events []store.Undecided) (map[gateway.SourceID]bool, error) {
	var ids []gateway.SourceID
	for _, e := range events {
		if e.SourcePaused {
			ids = append(ids, e.SourceID)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	return tx.PausedSources(ctx, ids)
}

// told are the events that somebody may be told of: those of paused sources, and
// those that ended by their rules, are not.
func told(events []store.Undecided, paused map[gateway.SourceID]bool, ended verdicts) []store.Undecided {
	var all []store.Undecided
	for _, e := range events {
		if _, over := ended[e.ID]; !over && !paused[e.SourceID] {
			all = append(all, e)
		}
	}
	return all
}

// candidatesFor reads the endpoints that may want one of the events.
func candidatesFor(ctx context.Context, tx store.Tx, events []store.Undecided) ([]store.Candidate, error) {
	accounts := map[gateway.AccountID]bool{}
	patterns := map[string]bool{}
	for _, e := range events {
		accounts[e.AccountID] = true
		for _, p := range gateway.PatternsFor(e.Type) {
			patterns[p] = true
		}
	}
	return tx.Candidates(ctx, slices.Collect(maps.Keys(accounts)), slices.Collect(maps.Keys(patterns)))
}
