// Package explore finds events by what they are, what came in with them, and
// what became of them: in parts for lists, and all of them for exports. What an
// index leads to is found at once; what has to be looked at is looked at from
// the newest on, within a bounded time, and told as such.
package explore

import (
	"time"

	"github.com/rowlock/rowlock/internal/clock"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/rule"
	"github.com/rowlock/rowlock/internal/search"
	"github.com/rowlock/rowlock/internal/store"
)

// Options are what a Service is made of.
type Options struct {
	Store *store.Store
	Clock *clock.Clock
	// LookTime bounds how long one part of a list is looked for; zero is
	// DefaultLookTime.
	LookTime time.Duration
	// Retention is how long events are kept.
	Retention time.Duration
}

// DefaultLookTime is how long somebody waits for a part without being told how
// far it got.
const DefaultLookTime = 400 * time.Millisecond

// Service finds events.
type Service struct {
	Options

	// looks and exports are the turns of those who read much.
	looks, exports *rule.Turns
}

// New makes a Service.
func New(o Options) *Service {
	if o.LookTime == 0 {
		o.LookTime = DefaultLookTime
	}
	return &Service{Options: o, looks: rule.NewTurns(), exports: rule.NewTurnsOf(exportsAtOnce)}
}

// Query says which events are looked for; the zero value is all of them.
type Query struct {
	Type    string
	Subject string
	// Key is the idempotency key's bytes; nil asks for any.
	Key    []byte
	Source *gateway.SourceID
	// Events are single ones, of which nothing else is asked; nil is all.
	Events []gateway.EventID
	// Endpoint is one that they were to be sent to.
	Endpoint *gateway.EndpointID
	// Statuses and Progress are any of which an event may have; none of either
	// asks for any. With an endpoint, Progress is how far they got there.
	Statuses []gateway.EventStatus
	Progress []gateway.Progress
	Search   search.Query
	// Since and Until bound when they came in: from, and before. Zero is
	// unbounded.
	Since, Until time.Time
}

// filter is what of the query an index of events leads to, but for the status.
func (q Query) filter() store.EventFilter {
	return store.EventFilter{Type: q.Type, Subject: q.Subject, Key: q.Key, Source: q.Source}
}

// statusMatters tells that the query asks for what became of the events.
func (q Query) statusMatters() bool { return len(q.Statuses)+len(q.Progress) > 0 }
