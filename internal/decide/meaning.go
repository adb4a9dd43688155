package decide

import (
	"context"
	"errors"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/rule"
	"github.com/rowlock/rowlock/internal/store"
)

// errSlowRules has a batch decided in halves.
var errSlowRules = errors.New("the rules for these events take too long together")

// verdicts are what becomes of events that nobody is told of, by their rules.
type verdicts map[gateway.EventID]verdict

// verdict ends an event, or puts it off.
type verdict struct {
	status gateway.EventStatus
	reason string
}

// understood is an event whose source has a rule, with what that says.
type understood struct {
	event *store.Undecided
	rule  *rule.Rule

	rule.Meaning
	// named is what the rule reads of an event whose key or type could not be read
	// when it came in.
	named rule.Arrival
	// fault says why the rule has no answer.
	fault string
}

// interpret asks the sources' rules what events mean: their subjects, whether
// they tell anything new, and as what they are told. The events get the types and
// subjects that they are matched by; who is told of none of them has a verdict.
// Where no source has a rule, nothing is read.
func (s *Service) interpret(ctx context.Context, tx store.Tx, events []store.Undecided, paused map[gateway.SourceID]bool) (verdicts, error) {
	if err := unname(ctx, tx, events, paused); err != nil {
		return nil, err
	}
	ruled, err := s.understand(ctx, tx, events, paused)
	ended := verdicts{}
	if err != nil || len(ruled) == 0 {
		return ended, err
	}
	for _, u := range ruled {
		if u.fault != "" {
			ended[u.event.ID] = verdict{gateway.EventRuleError, u.fault}
		}
	}
	if err := claimLate(ctx, tx, ruled, ended); err != nil {
		return nil, err
	}
	if err := await(ctx, tx, events, ruled, ended); err != nil {
		return nil, err
	}
	told, err := s.tell(ctx, tx, ruled, ended)
	if err != nil {
		return nil, err
	}
	if err := tx.SetMeanings(ctx, meanings(ruled, told)); err != nil {
		return nil, err
	}
	for _, u := range ruled {
		u.apply(ended)
	}
	return ended, nil
}

// understand evaluates the rules for the events whose sources have one.
func (s *Service) understand(ctx context.Context, tx store.Tx, events []store.Undecided, paused map[gateway.SourceID]bool) ([]*understood, error) {
	var asked []*store.Undecided
	var sources []gateway.SourceID
	for i := range events {
		if e := &events[i]; e.Rule > 0 && !paused[e.SourceID] {
			asked, sources = append(asked, e), append(sources, e.SourceID)
		}
	}
	if len(asked) == 0 {
		return nil, nil
	}
	known, err := tx.SourceRules(ctx, sources)
	if err != nil {
		return nil, err
	}
	var all []*understood
	ends := s.clock.Now().Add(siftTime)
	for part := range inParts(asked, func(e *store.Undecided) int { return e.BodySize }) {
		contents, err := tx.Contents(ctx, accountsOf(part), idsOf(part))
		if err != nil {
			return nil, err
		}
		for _, e := range part {
			source, ok := known[e.SourceID]
			if !ok {
				continue // taken away since
			}
			u, err := s.meaningOf(ctx, e, source, contents[e.ID])
			if err != nil {
				return nil, err
			}
			all = append(all, u)
			if s.clock.Now().After(ends) && len(events) > 1 {
				return nil, errSlowRules
			}
		}
	}
	return all, nil
}

// meaningOf asks one rule about one event, as it came in.
func (s *Service) meaningOf(ctx context.Context, e *store.Undecided, source gateway.Source, c gateway.Content) (*understood, error) {
	u := &understood{event: e}
	var err error
	if u.rule, err = s.rules.Rule(source.ID, source.RuleVersion, *source.Rule); err != nil {
		u.fault = "the rule cannot be compiled: " + err.Error()
		return u, nil
	}
	c.Type, c.Subject = e.Type, ""
	in := rule.NewInput(c)
	if e.Unnamed {
		u.named, err = u.rule.Name(ctx, in)
	}
	if err == nil {
		u.Meaning, err = u.rule.Decide(ctx, in)
	}
	if failed, ok := errors.AsType[*rule.EvalError](err); ok {
		u.fault = failed.Reason
		return u, nil
	}
	return u, err
}

// claimLate claims the keys that could not be read when their events came in. A
// key that was accepted since, or before, belongs to that event: this one is a
// repeat of it.
func claimLate(ctx context.Context, tx store.Tx, ruled []*understood, ended verdicts) error {
	late := map[gateway.EventID]*understood{}
	var keys []store.EventKey
	for _, u := range ruled {
		if u.fault == "" && u.named.Key != "" && !u.event.Keyed {
			late[u.event.ID] = u
			keys = append(keys, lateKey(u))
		}
	}
	if len(keys) == 0 {
		return nil
	}
	sortKeys(keys)
	firsts, err := tx.ClaimKeys(ctx, keys)
	if err != nil {
		return err
	}
	for i, first := range firsts {
		if first != nil && first.EventID != keys[i].EventID {
			ended[keys[i].EventID] = verdict{gateway.EventIgnored, "its key was accepted before, with " + first.EventID.String()}
			late[keys[i].EventID].named.Key = ""
		}
	}
	return nil
}

// meanings are what is written of events: nothing of those whose rule failed.
func meanings(ruled []*understood, told map[gateway.EventID]gateway.FactID) []store.Meaning {
	var all []store.Meaning
	for _, u := range ruled {
		if u.fault != "" {
			continue
		}
		m := store.Meaning{ID: u.event.ID, Type: u.told(), Received: u.received(), Subject: u.Subject, State: u.State}
		if id, ok := told[u.event.ID]; ok {
			m.Told = &id
		}
		if u.named.Key != "" {
			m.Key = []byte(u.named.Key)
		}
		all = append(all, m)
	}
	return all
}

// received is the type that came in.
func (u *understood) received() string {
	if u.named.Type != "" {
		return u.named.Type
	}
	return u.event.Type
}

// told is the type that the event is told as.
func (u *understood) told() string {
	if u.Emit != "" {
		return u.Emit
	}
	return u.received()
}

// apply gives the event what it is matched by, or ends one that is told to
// nobody.
func (u *understood) apply(ended verdicts) {
	u.event.Type, u.event.Subject = u.told(), u.Subject
	if _, over := ended[u.event.ID]; !over && u.Silent {
		ended[u.event.ID] = verdict{gateway.EventIgnored, "the rule emits nothing for it"}
	}
}

// unname gives events back the types that came in, where a rule gave them others
// and is gone.
func unname(ctx context.Context, tx store.Tx, events []store.Undecided, paused map[gateway.SourceID]bool) error {
	var all []store.Meaning
	for i := range events {
		if e := &events[i]; e.Renamed && e.Rule == 0 && !paused[e.SourceID] {
			all = append(all, store.Meaning{ID: e.ID, Type: e.Type, Received: e.Type, Subject: e.Subject, State: e.ToldState})
		}
	}
	return tx.SetMeanings(ctx, all)
}
