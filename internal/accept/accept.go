// Package accept takes events in: a provider's webhook (Receive) or an
// application's call (Publish). It verifies, stores key, event and body in one
// transaction, with a job where this node has no place to decide them, and answers
// when that is committed; what the event means is decided later.
package accept

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"log/slog"
	"time"

	"github.com/rowlock/rowlock/internal/clock"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/rule"
	"github.com/rowlock/rowlock/internal/store"
)

// Limits bound what is taken in; zero is no limit.
type Limits struct {
	// KeyEventsPerSecond is for each API key that carries no limit of its own.
	KeyEventsPerSecond int
	// AccountEventsPerSecond is for all keys and sources of an account.
	AccountEventsPerSecond int
	// AccountStoredBytes bounds an account's bodies within the retention.
	AccountStoredBytes int64
	// Retention is how long bodies are kept.
	Retention time.Duration
}

// Service takes events in.
type Service struct {
	store   *store.Store
	clock   *clock.Clock
	log     *slog.Logger
	commits *committer
	sources *sourceCache
	types   *typeCache
	limits  *limiter
	baseURL string
	// turns are those of people who ask what a rule says.
	turns *rule.Turns
}

// Options are what a Service is made of.
type Options struct {
	Store  *store.Store
	Clock  *clock.Clock
	Log    *slog.Logger
	Limits Limits
	// BaseURL is the public address of this server, without a slash at the end:
	// requests that are accepted late are proven against it.
	BaseURL string
	// Reserve keeps a place for what is about to be committed here, to be decided on
	// this node at once: there is no job for it then. What it returns is called once,
	// with the events that were committed, or with none. It is nil where there is no
	// place. Neither may block. Where Reserve itself is nil, there are jobs for all.
	Reserve func() func([]gateway.EventID)
	// Timed is told of each transaction that was committed: how many rows it was
	// to bring, and how long it took. It must not block. May be nil.
	Timed func(rows int, took time.Duration)
}

// New makes a Service. Run must be running for anything to be accepted.
func New(o Options) *Service {
	return &Service{
		store:   o.Store,
		clock:   o.Clock,
		log:     o.Log,
		commits: newCommitter(o),
		sources: newSourceCache(o.Store, o.Clock),
		types:   newTypeCache(o.Store, o.Clock),
		limits:  newLimiter(o),
		baseURL: o.BaseURL,
		turns:   rule.NewTurns(),
	}
}

// Run commits what comes in until ctx ends; then it commits what is queued,
// refuses what comes after, and returns.
func (s *Service) Run(ctx context.Context) { s.commits.run(ctx) }

// ForgetSources drops what is remembered about sources: one of them changed.
func (s *Service) ForgetSources() { s.sources.forget() }

// ForgetEventTypes drops what is remembered about declared types: one of them
// changed.
func (s *Service) ForgetEventTypes() { s.types.forget() }

// arrival is an event on its way in.
type arrival struct {
	event gateway.Event
	body  gateway.Body
}

// contentHash identifies what an event says: two requests with one key and
// one hash are one event told twice. Parts are written with their lengths, so
// that no two different events run together to the same bytes.
func contentHash(eventType string, subject *string, data []byte) [32]byte {
	h := sha256.New()
	part := func(b []byte) {
		var size [8]byte
		binary.BigEndian.PutUint64(size[:], uint64(len(b)))
		h.Write(size[:])
		h.Write(b)
	}
	part([]byte(eventType))
	if subject != nil {
		part([]byte(*subject))
	}
	part(data)
	return [32]byte(h.Sum(nil))
}

// RateLimitedError tells how long to wait; it is a gateway.ErrRateLimited.
type RateLimitedError struct {
	// Limit is how many events a second are allowed; zero when it is not a
	// rate that was exceeded but the account's storage.
	Limit int
	// Retry is how long to wait before the next try.
	Retry time.Duration
	// Detail says which limit it was.
	Detail string
}

// Error says which limit it was.
func (e *RateLimitedError) Error() string { return e.Detail }

// Unwrap makes it a gateway.ErrRateLimited.
func (e *RateLimitedError) Unwrap() error { return gateway.ErrRateLimited }

// rateLimited tells to wait for whole seconds, one at the least, as headers do.
func rateLimited(limit int, whose string, wait time.Duration) error {
	wait = (wait + time.Second - 1).Truncate(time.Second)
	return &RateLimitedError{Limit: limit, Retry: wait, Detail: fmt.Sprintf("%s may send %d events a second", whose, limit)}
}
