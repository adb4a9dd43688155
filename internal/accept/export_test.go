package accept

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"golang.org/x/time/rate"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/signature"
	"github.com/rowlock/rowlock/internal/store"
)

// QueueLength is how many requests wait before callers are told to come back.
const QueueLength = queueLength

// QueueBytes is how many bytes of bodies wait at the most.
const QueueBytes = queueBytes

// MaxBatch is how many requests share a transaction.
const MaxBatch = maxBatch

// Queued is how many requests wait for a transaction.
func (s *Service) Queued() int { return len(s.commits.queue) }

// QueuedBytes is how many bytes wait for a transaction.
func (s *Service) QueuedBytes() int64 { return s.commits.queued.Load() }

// ContentHash identifies what an event says.
var ContentHash = contentHash

// MaxCachedSources bounds how many sources are remembered.
const MaxCachedSources = maxCachedSources

// SourceTTL is how long a source is believed to be as it was read.
const SourceTTL = sourceTTL

// StoredTTL is how long the sum of an account's stored bytes is believed.
const StoredTTL = storedTTL

// Age makes everything that is remembered older; a negative time makes it of
// the future, as a clock does that was set back.
func (s *Service) Age(by time.Duration) {
	s.sources.mu.Lock()
	defer s.sources.mu.Unlock()
	for _, cached := range s.sources.known {
		cached.readAt = cached.readAt.Add(-by)
	}
	s.limits.mu.Lock()
	defer s.limits.mu.Unlock()
	for account, sum := range s.limits.stored {
		sum.readAt = sum.readAt.Add(-by)
		s.limits.stored[account] = sum
	}
}

// Remembered is how many sources and how many built-in ones are remembered.
func (s *Service) Remembered() (sources, builtIn int) {
	s.sources.mu.Lock()
	defer s.sources.mu.Unlock()
	return len(s.sources.known), len(s.sources.builtIn)
}

// Remember makes n sources of nobody remembered.
func (s *Service) Remember(n int) {
	s.sources.mu.Lock()
	defer s.sources.mu.Unlock()
	for i := range n {
		s.sources.known[fmt.Sprint("remembered ", i)] = &cachedSource{}
		s.sources.builtIn[gateway.AccountID{14: byte(i >> 8), 15: byte(i)}] = gateway.SourceID{}
	}
}

// LiveAt are those of the secrets with which a remembered source verifies.
func LiveAt(secrets []gateway.Secret, now time.Time) (ids []gateway.SecretID) {
	cached := cachedSource{secrets: secrets}
	for _, live := range cached.at(now).secrets {
		ids = append(ids, live.ID)
	}
	return ids
}

// StoredHeaders are the headers that are stored of a request to a source of
// the scheme.
func StoredHeaders(in Incoming, scheme signature.Scheme) http.Header {
	return gateway.DecodeHeaders(bodyOf(in, scheme, nil).Headers)
}

// StoredQuery is the query that is stored of a request to a source of the scheme.
func StoredQuery(in Incoming, scheme signature.Scheme) string {
	return string(bodyOf(in, scheme, nil).Query)
}

// Rates is how many rates are kept.
func (s *Service) Rates() int {
	s.limits.mu.Lock()
	defer s.limits.mu.Unlock()
	return len(s.limits.rates)
}

// MaxLimiters bounds how many rates are kept.
const MaxLimiters = maxLimiters

// KeepRates makes n rates of nobody kept.
func (s *Service) KeepRates(n int) {
	s.limits.mu.Lock()
	defer s.limits.mu.Unlock()
	for i := range n {
		s.limits.rates[[16]byte{0: 0xff, 14: byte(i >> 8), 15: byte(i)}] = rate.NewLimiter(1, 1)
	}
}

// InTx is a transaction that stores events, and has those that it returns decided.
func (s *Service) InTx(ctx context.Context, do func(store.Tx) ([]gateway.EventID, error)) error {
	return s.commits.inTx(ctx, do)
}
