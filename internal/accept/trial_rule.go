package accept

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/rule"
	"github.com/rowlock/rowlock/internal/signature"
	"github.com/rowlock/rowlock/internal/store"
)

// RuleTrial is a request to try a rule on.
type RuleTrial struct {
	// Rule is the one to try; nil is the one that the source has. It was checked.
	Rule *gateway.Rule
	// Event is one of the source's events to try it on, as it came in.
	Event *gateway.EventID
	// Header, Query and Body are a request to try it on, where Event is nil.
	Header http.Header
	Query  string
	Body   []byte
}

// RuleTried is what a rule would say of an event, and what would become of that.
type RuleTried struct {
	// Key is by what repeats would be known; empty for nothing. First is the event
	// that was accepted under it; nil for none.
	Key   string
	First *gateway.EventID
	// Received is the type that would come in, Type what it would be told as.
	Received, Type string
	// Silent tells that it would be told to nobody.
	Silent bool
	// Subject and State are what would be reported; empty for none.
	Subject, State string
	// Status and Reason are what would become of it, as far as its rule decides:
	// EventProcessed is told to whoever asks for it, EventAccepted waits.
	Status gateway.EventStatus
	Reason string
	// Fact is what is known of the subject now; nil for nothing.
	Fact *gateway.Fact
}

// TryRule tells what a rule says of a request's events, and what would become of
// them, and changes nothing. Whether the request is proven is not asked. Errors:
// gateway.ErrNotFound; gateway.ErrBuiltIn for the source of the API;
// gateway.InvalidError for the event; gateway.ErrRateLimited when too many of the
// account are tried at once.
func (s *Service) TryRule(ctx context.Context, account gateway.AccountID, id gateway.SourceID, t RuleTrial) ([]RuleTried, error) {
	c, err := s.console(ctx, account, id)
	if err != nil {
		return nil, err
	}
	if err := c.takeRule(t); err != nil {
		return nil, err
	}
	tried, err := s.triedEvent(ctx, c, t)
	if err != nil {
		return nil, err
	}
	done, err := s.turns.Take(ctx, account)
	if err != nil {
		return nil, err
	}
	defer done()
	return s.tryRule(ctx, c, t, tried)
}

// takeRule has the source try another rule than its own.
func (c *console) takeRule(t RuleTrial) error {
	if t.Rule != nil {
		c.source.Rule = t.Rule
	}
	if c.source.Rule == nil {
		c.source.Rule = &gateway.Rule{}
	}
	var err error
	if c.source.rule, err = rule.CompileRule(*c.source.Rule); err != nil {
		return fmt.Errorf("compile the rule of source %s: %w", c.source.ID, err)
	}
	return nil
}

// triedEvent reads the event that a rule is tried on, and makes its request that
// of the console; nil where the trial has one.
func (s *Service) triedEvent(ctx context.Context, c console, t RuleTrial) (*gateway.Event, error) {
	if t.Event == nil {
		return nil, nil //nolint:nilnil // a request is tried
	}
	event, err := s.store.Event(ctx, c.source.AccountID, *t.Event)
	switch {
	case errors.Is(err, gateway.ErrNotFound), err == nil && event.SourceID != c.source.ID:
		return nil, gateway.Invalid("event", "names no event of this source")
	case errors.Is(err, gateway.ErrExpired):
		return nil, gateway.Invalid("event", "is an event that is no longer kept")
	case err == nil && event.PayloadDeletedAt != nil:
		return nil, gateway.Invalid("event", "is an event whose payload was deleted")
	}
	return &event, err
}

// tryRule asks the rule about each event.
func (s *Service) tryRule(ctx context.Context, c console, t RuleTrial, event *gateway.Event) ([]RuleTried, error) {
	arrivals, err := s.arrivalsToTry(ctx, c, t, event)
	if err != nil {
		return nil, err
	}
	tried := make([]RuleTried, 0, len(arrivals))
	for i := range arrivals {
		one, err := s.tryOne(ctx, c, &arrivals[i], event)
		if err != nil {
			return nil, err
		}
		tried = append(tried, one)
	}
	return tried, nil
}

// arrivalsToTry are the events of the request, named as the kind knows them.
func (s *Service) arrivalsToTry(ctx context.Context, c console, t RuleTrial, event *gateway.Event) ([]arrival, error) {
	r := c.reception
	r.in.Method, r.in.Header, r.in.Query, r.in.Body = http.MethodPost, t.Header, t.Query, t.Body
	if event != nil {
		body, err := s.store.Body(ctx, event.AccountID, event.ID)
		if err != nil {
			return nil, err
		}
		r.in.Method, r.in.Path, r.in.Query = body.Method, string(body.Path), string(body.Query)
		r.in.Header, r.in.Body = gateway.DecodeHeaders(body.Headers), body.Data
	}
	if r.in.Header == nil {
		r.in.Header = http.Header{}
	}
	events := r.scheme.Unproven(r.request(s.clock.Now()), r.source.settings.Scheme)
	arrivals := r.identified(signature.Verified{Events: events}, r.body())
	return arrivals[:min(len(arrivals), maxLookedUp)], nil
}

// tryOne asks the rule about one event, first as when it comes in, then as when it
// is decided.
func (s *Service) tryOne(ctx context.Context, c console, a *arrival, event *gateway.Event) (t RuleTried, err error) {
	in := rule.NewInput(gateway.Content{Type: a.event.Type, Source: c.source.Source, Body: a.body})
	named, err := c.source.rule.Name(ctx, in)
	t = tryNames(c, a, named)
	if err == nil {
		err = s.tryMeaning(ctx, c, in, &t, event)
	}
	if failed, ok := errors.AsType[*rule.EvalError](err); ok {
		t.Status, t.Reason, err = gateway.EventRuleError, failed.Reason, nil
	}
	if err == nil && t.Key != "" {
		t.First, err = s.firstOf(ctx, c, t.Key)
	}
	return t, err
}

// tryNames are the type and the key that an event would have.
func tryNames(c console, a *arrival, named rule.Arrival) RuleTried {
	t := RuleTried{Received: a.event.Type, Key: string(a.event.Key), Status: gateway.EventProcessed}
	if named.Type != "" {
		t.Received = named.Type
	}
	if c.source.Rule.Key != "" {
		t.Key = named.Key
	}
	t.Type = t.Received
	return t
}

// tryMeaning tells what the rule makes of an event, and whether that would be new.
func (s *Service) tryMeaning(ctx context.Context, c console, in *rule.Input, t *RuleTried, event *gateway.Event) error {
	m, err := c.source.rule.Decide(ctx, in)
	t.Subject, t.State, t.Silent = m.Subject, m.State, m.Silent
	if err != nil {
		return err
	}
	if m.Emit != "" {
		t.Type = m.Emit
	}
	if err := s.tryFact(ctx, c, t, event); err != nil {
		return err
	}
	if t.Status == gateway.EventProcessed && t.Silent {
		t.Status, t.Reason = gateway.EventIgnored, "the rule emits nothing for it"
	}
	return nil
}

// tryFact tells whether what would be reported is new.
func (s *Service) tryFact(ctx context.Context, c console, t *RuleTried, event *gateway.Event) error {
	if t.Subject == "" {
		return nil
	}
	if waits, err := s.wouldWait(ctx, c, t, event); err != nil || waits {
		t.Status, t.Reason = gateway.EventAccepted, "nothing else has told of "+t.Subject+": it waits for that, and is unresolved in the end"
		return err
	}
	fact, err := s.store.FactOf(ctx, c.source.AccountID, c.source.ID, t.Subject)
	switch {
	case errors.Is(err, gateway.ErrNotFound):
		return nil
	case err != nil:
		return err
	}
	t.Fact = &fact
	if t.State == "" {
		return nil
	}
	if event != nil && event.FactID != nil && *event.FactID == fact.ID && event.State != nil && *event.State == t.State {
		t.Reason = "this event itself told it"
		return nil
	}
	if t.Status = fact.Judge(c.source.Rule.Report(t.State)); t.Status != gateway.EventProcessed {
		t.Reason = fact.Refusal(t.Status, t.State)
	}
	return nil
}

// wouldWait tells that an event would wait for its subject.
func (s *Service) wouldWait(ctx context.Context, c console, t *RuleTried, event *gateway.Event) (bool, error) {
	if !c.source.Rule.Awaits(t.Subject, t.State) {
		return false, nil
	}
	asked := store.SubjectRef{AccountID: c.source.AccountID, Subject: t.Subject}
	deciding := []gateway.EventID{}
	if event != nil {
		deciding = append(deciding, event.ID)
	}
	var known []bool
	err := s.store.InTx(ctx, func(tx store.Tx) (err error) {
		known, err = tx.KnownSubjects(ctx, []store.SubjectRef{asked}, deciding)
		return err
	})
	return err == nil && !known[0], err
}

// firstOf is the event of the source that was accepted under a key; nil for none.
func (s *Service) firstOf(ctx context.Context, c console, key string) (*gateway.EventID, error) {
	filter := store.EventFilter{Source: &c.source.ID, Key: []byte(key)}
	found, err := s.store.Events(ctx, c.source.AccountID, filter, store.Page[gateway.EventID]{Limit: 1})
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0].ID, nil
}
