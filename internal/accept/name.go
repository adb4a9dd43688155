package accept

import (
	"context"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/rule"
)

// namingTime is how long a source's rule is asked about the events of one
// request, while its sender waits. Those that it does not get to are asked about
// when they are decided.
const namingTime = 200 * time.Millisecond

// namer asks a source's rule for the types and keys of the events of one
// request.
type namer struct {
	source gateway.Source
	rule   *rule.Rule
	spent  time.Duration
}

// namer is nil for a source whose rule says nothing of types and keys. A rule
// that cannot be compiled, which a later version wrote, names nothing.
func (k knownSource) namer() *namer {
	if k.Rule == nil || k.Rule.Key == "" && k.Rule.Type == "" {
		return nil
	}
	return &namer{source: k.Source, rule: k.rule}
}

// name gives an event the type and the key that the rule reads. What cannot be
// read leaves the kind's type and no key: the event is taken in, and what is
// wrong is said when it is decided.
func (n *namer) name(ctx context.Context, a *arrival) {
	if n == nil {
		return
	}
	event := &a.event
	if n.source.Rule.Key != "" {
		event.Key = nil
	}
	if n.rule == nil || n.spent > namingTime {
		event.RuleFailed = true
		return
	}
	in := rule.NewInput(gateway.Content{Type: event.Type, Source: n.source, Body: a.body})
	named, err := n.rule.Arrive(ctx, in)
	n.spent += in.Spent()
	event.RuleFailed = err != nil
	if named.Type != "" {
		event.Type = named.Type
	}
	if named.Key != "" {
		event.Key = []byte(named.Key)
	}
}
