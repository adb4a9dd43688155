package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/rowlock/rowlock/internal/accept"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/server/problem"
	"github.com/rowlock/rowlock/internal/server/resource"
	"github.com/rowlock/rowlock/internal/source"
)

// ruleView is a source's rule.
type ruleView struct {
	Version          int      `json:"version" doc:"Grows with every change."`
	Key              *string  `json:"key,omitempty" example:"body.event_id"`
	Type             *string  `json:"type,omitempty"`
	Subject          *string  `json:"subject,omitempty" example:"body.message_id"`
	State            *string  `json:"state,omitempty" example:"body.status"`
	Emit             *string  `json:"emit,omitempty" example:"\"message.\" + body.status"`
	Terminal         []string `json:"terminal"`
	Rank             []string `json:"rank"`
	Repeats          bool     `json:"repeats"`
	RequiresExisting bool     `json:"requires_existing"`
}

// viewRule is nil for a source without a rule.
func viewRule(s gateway.Source) *ruleView {
	r := s.Rule
	if r == nil {
		return nil
	}
	return &ruleView{
		Version: s.RuleVersion, Key: optional(r.Key), Type: optional(r.Type), Subject: optional(r.Subject), State: optional(r.State),
		Emit: optional(r.Emit), Terminal: append([]string{}, r.Terminal...), Rank: append([]string{}, r.Rank...),
		Repeats: r.Repeats, RequiresExisting: r.RequiresExisting,
	}
}

func (a *API) addRuleRoutes() {
	registerJSON(a, route{
		method: put, path: "/sources/{id}/rule", needs: gateway.PermConfigure, status: 200,
		id: "setSourceRule", tag: tagSources, summary: "Give a source a rule",
		about: "In place of the one that it has. Expressions see body, headers, query, type, subject and source. Whole numbers are exact, all other numbers are texts.",
	}, a.setRule)
	register(a, route{
		method: get, path: "/sources/{id}/rule", needs: read, status: 200,
		id: "getSourceRule", tag: tagSources, summary: "Get a source's rule",
		about: "404 where it has none: its kind alone says what its events are.",
	}, a.getRule)
	register(a, route{
		method: remove, path: "/sources/{id}/rule", needs: gateway.PermConfigure, status: 204,
		id: "deleteSourceRule", tag: tagSources, summary: "Take a source's rule away",
		about: "Facts that were told stay.",
	}, a.deleteRule)
	registerJSON(a, route{
		method: post, path: "/sources/{id}/rule/try", needs: read, status: 200, optional: true, maxBody: 2*a.MaxBody + envelopeBytes,
		id: "trySourceRule", tag: tagSources, summary: "Try a rule",
		about: "Tells what a rule says of a request, or of an event, and what would become of it. Nothing is proven, stored or told. 20 events of a request are looked at.",
	}, a.tryRule)
}

func (a *API) setRule(ctx context.Context, who caller, in *sourcePath, body resource.RuleBody) (*objectReply[ruleView], error) {
	id, err := a.sourceID(ctx, who, in.ID)
	if err != nil {
		return nil, err
	}
	s, err := a.Sources.SetRule(ctx, who.account(), who.actor(), id, body.Rule())
	return object(s, err, func(s gateway.Source) ruleView { return *viewRule(s) })
}

func (a *API) getRule(ctx context.Context, who caller, in *sourcePath) (*objectReply[ruleView], error) {
	id, err := a.sourceID(ctx, who, in.ID)
	if err != nil {
		return nil, err
	}
	s, err := a.Store.Source(ctx, who.account(), id)
	if err == nil && s.Rule == nil {
		err = gateway.ErrNotFound
	}
	return object(s, err, func(s gateway.Source) ruleView { return *viewRule(s) })
}

func (a *API) deleteRule(ctx context.Context, who caller, in *sourcePath) (*empty, error) {
	id, err := a.sourceID(ctx, who, in.ID)
	if err != nil {
		return nil, err
	}
	_, err = a.Sources.ClearRule(ctx, who.account(), who.actor(), id)
	return &empty{}, err
}

// tryRuleBody says what to try a rule on.
type tryRuleBody struct {
	Rule    *resource.RuleBody `json:"rule,omitempty" doc:"The rule to try. Left out: the source's own."`
	Event   *string            `json:"event,omitempty" nullable:"true" example:"evt_06h1m3v9c8x7k2q5n4t6w8y0za" doc:"An event of the source to try it on, as it came in, in place of headers and body."`
	Headers map[string]string  `json:"headers,omitempty" nullable:"true" example:"{\"X-GitHub-Event\":\"push\"}"`
	Query   *string            `json:"query,omitempty" nullable:"true" example:"env=live"`
	Body    json.RawMessage    `json:"body,omitempty" doc:"The body: a text as it stands in it, or any other JSON value as it is written here."`
}

// ruleTriedView is what a rule says of an event.
type ruleTriedView struct {
	Key          string              `json:"key,omitempty" doc:"By what repeats of it are known. Left out: by nothing."`
	KeyEventID   *gateway.EventID    `json:"key_event_id,omitempty" doc:"The event that was accepted under this key: another one is a repeat of it."`
	ReceivedType string              `json:"received_type" example:"webhook.received" doc:"What comes in."`
	Type         string              `json:"type" example:"message.delivered" doc:"What it is told as."`
	Emit         *string             `json:"emit" nullable:"true" example:"message.delivered" doc:"The type that it is told as; null where it is told to nobody."`
	Subject      string              `json:"subject,omitempty"`
	State        string              `json:"state,omitempty"`
	Status       gateway.EventStatus `json:"status" enum:"accepted,processed,ignored,duplicate_fact,stale_fact,rule_error" doc:"What would become of it: processed is told to every endpoint that asks for it, accepted waits for its subject."`
	Decision     string              `json:"decision,omitempty" doc:"Why, in words."`
	Fact         *factView           `json:"fact,omitempty" doc:"What is known of the subject now."`
}

func viewRuleTried(t accept.RuleTried) ruleTriedView {
	v := ruleTriedView{
		Key: printable(t.Key), KeyEventID: t.First, ReceivedType: printable(t.Received), Type: printable(t.Type),
		Subject: t.Subject, State: t.State, Status: t.Status, Decision: printable(t.Reason),
	}
	if told := printable(t.Type); !t.Silent {
		v.Emit = &told
	}
	if t.Fact != nil {
		fact := viewFact(*t.Fact)
		v.Fact = &fact
	}
	return v
}

func (a *API) tryRule(ctx context.Context, who caller, in *sourcePath, body tryRuleBody) (*listReply[ruleTriedView], error) {
	id, err := a.sourceID(ctx, who, in.ID)
	if err != nil {
		return nil, err
	}
	trial, err := body.trial(a.MaxBody)
	if err != nil {
		return nil, err
	}
	tried, err := a.Accept.TryRule(ctx, who.account(), id, trial)
	if err != nil {
		return nil, err
	}
	return whole(tried, viewRuleTried), nil
}

// trial is what the use case takes.
func (b *tryRuleBody) trial(maxBody int) (t accept.RuleTrial, err error) {
	if b.Rule != nil {
		rule, err := source.CheckRule(b.Rule.Rule())
		if err != nil {
			return t, problem.Locate(err, func(field string) string { return "body.rule." + field })
		}
		t.Rule = &rule
	}
	if b.Event != nil {
		event, err := gateway.ParseID[gateway.EventID](*b.Event)
		if err != nil {
			return t, problem.At("body.event", "want an id that begins with %s_", event.Prefix())
		}
		t.Event = &event
		return t, nil
	}
	if b.Query != nil {
		t.Query = *b.Query
	}
	t.Header = http.Header{}
	for name, value := range b.Headers {
		t.Header.Add(name, value)
	}
	t.Body, err = b.sent(maxBody)
	return t, err
}

// sent is the body as it would be sent.
func (b *tryRuleBody) sent(most int) ([]byte, error) {
	body := []byte(b.Body)
	var text string
	if len(body) > 0 && body[0] == '"' {
		if err := json.Unmarshal(body, &text); err != nil {
			return nil, errors.Join(problem.At("body.body", "is no text"), err)
		}
		body = []byte(text)
	}
	if len(body) > most {
		return nil, problem.At("body.body", "want at most %d bytes (ROWLOCK_MAX_BODY)", most)
	}
	return body, nil
}
