package resource

import "github.com/rowlock/rowlock/internal/gateway"

// RuleBody says in CEL what the events of a source mean.
type RuleBody struct {
	Key              *string  `json:"key,omitempty" nullable:"true" maxLength:"4096" example:"body.event_id" doc:"By what repeats of an event are known: a text or a whole number. Left out: what the kind knows."`
	Type             *string  `json:"type,omitempty" nullable:"true" maxLength:"4096" example:"body.event" doc:"What comes in. Left out: what the kind knows, or webhook.received."`
	Subject          *string  `json:"subject,omitempty" nullable:"true" maxLength:"4096" example:"body.message_id" doc:"What the event is about: a text or a whole number."`
	State            *string  `json:"state,omitempty" nullable:"true" maxLength:"4096" example:"body.status" doc:"What it reports of the subject; null reports nothing. With a subject it is a fact, which is told once."`
	Emit             *string  `json:"emit,omitempty" nullable:"true" maxLength:"4096" example:"\"message.\" + body.status" doc:"The type that the event is told as; null has it told to nobody. Left out: the type that came in."`
	Terminal         []string `json:"terminal,omitempty" nullable:"true" maxItems:"100" example:"[\"delivered\",\"failed\"]" doc:"The states after which nothing is told of a subject."`
	Rank             []string `json:"rank,omitempty" nullable:"true" maxItems:"100" example:"[\"queued\",\"sent\",\"delivered\"]" doc:"States in the order in which they come: one that was told is not followed by one before it. A state that is not among them has no rank."`
	Repeats          *bool    `json:"repeats,omitempty" nullable:"true" doc:"A state may be told of a subject again. Left out: each is told once."`
	RequiresExisting *bool    `json:"requires_existing,omitempty" nullable:"true" doc:"An event waits until something else told of its subject: a fact of any source, or another event with this subject. After 36 minutes it is unresolved."`
}

// Rule is what the use case takes.
func (b *RuleBody) Rule() gateway.Rule {
	text := func(s *string) string {
		if s == nil {
			return ""
		}
		return *s
	}
	return gateway.Rule{
		Key: text(b.Key), Type: text(b.Type), Subject: text(b.Subject), State: text(b.State), Emit: text(b.Emit),
		Terminal: b.Terminal, Rank: b.Rank, Repeats: b.Repeats != nil && *b.Repeats,
		RequiresExisting: b.RequiresExisting != nil && *b.RequiresExisting,
	}
}

// RuleOf is a rule as callers write it.
func RuleOf(r gateway.Rule) RuleBody {
	text := func(s string) *string {
		if s == "" {
			return nil
		}
		return &s
	}
	return RuleBody{
		Key: text(r.Key), Type: text(r.Type), Subject: text(r.Subject), State: text(r.State), Emit: text(r.Emit),
		Terminal: r.Terminal, Rank: r.Rank, Repeats: &r.Repeats, RequiresExisting: &r.RequiresExisting,
	}
}
