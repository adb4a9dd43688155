package accept

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/rowlock/rowlock/internal/clock"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

const (
	// storedTTL is how long the sum of an account's stored bytes is believed.
	storedTTL = 10 * time.Second
	// storageRetry is when to come back to a full account.
	storageRetry = time.Hour
	// maxLimiters bounds the memory of the rates; dropping them all gives each
	// caller one second's worth anew.
	maxLimiters = 10_000
)

// limiter holds the rates of keys and accounts on this node, and knows what
// accounts have stored.
type limiter struct {
	limits Limits
	store  *store.Store
	clock  *clock.Clock

	mu     sync.Mutex
	rates  map[[16]byte]*rate.Limiter
	stored map[gateway.AccountID]storedBytes
}

type storedBytes struct {
	bytes  int64
	readAt time.Time
}

func newLimiter(o Options) *limiter {
	return &limiter{
		limits: o.Limits, store: o.Store, clock: o.Clock,
		rates: map[[16]byte]*rate.Limiter{}, stored: map[gateway.AccountID]storedBytes{},
	}
}

// publish allows one event of an API key.
func (l *limiter) publish(ctx context.Context, account gateway.AccountID, key gateway.APIKey, size int) error {
	limit := l.limits.KeyEventsPerSecond
	if key.EventsPerSecond != nil {
		limit = *key.EventsPerSecond
	}
	err := l.allow(turn{id: key.ID, perSecond: limit, whose: "this API key"}, turn{id: account, perSecond: l.limits.AccountEventsPerSecond, whose: "this account"})
	if err != nil {
		return err
	}
	return l.fits(ctx, account, size)
}

// receive allows the events of one request to a source, which may have a rate
// of its own.
func (l *limiter) receive(ctx context.Context, source gateway.Source, perSecond, events, size int) error {
	err := l.allow(
		turn{id: source.ID, perSecond: perSecond, whose: "this source", events: events},
		turn{id: source.AccountID, perSecond: l.limits.AccountEventsPerSecond, whose: "this account", events: events},
	)
	if err != nil {
		return err
	}
	return l.fits(ctx, source.AccountID, size)
}

// turn is a rate that an event has to fit into; a limit of zero fits all.
type turn struct {
	id        [16]byte
	perSecond int
	whose     string
	// events is how many come at once, in one request.
	events int
}

// tokens is how many it takes.
func (t turn) tokens() int { return max(1, t.events) }

// wait is how long to wait for the tokens of a turn; nothing when they are
// there. Of more than a second's worth, which would never be there, a second's
// must be.
func (t turn) wait(r *rate.Limiter, now time.Time) time.Duration {
	missing := float64(min(t.tokens(), t.perSecond)) - r.TokensAt(now)
	return time.Duration(missing / float64(t.perSecond) * float64(time.Second))
}

// take takes the tokens, also those that are not there: they are owed, and
// nothing fits until they are made up for. So the rate holds in the long run,
// however many events come in one request.
func (t turn) take(r *rate.Limiter, now time.Time) {
	r.SetBurstAt(now, max(t.tokens(), t.perSecond))
	r.ReserveN(now, t.tokens())
	r.SetBurstAt(now, t.perSecond)
}

// allow takes the tokens of each rate, or none at all: what one rate refuses
// uses up nothing of another.
func (l *limiter) allow(turns ...turn) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.clock.Now()
	turns = slices.DeleteFunc(turns, func(t turn) bool { return t.perSecond <= 0 })
	for _, t := range turns {
		if wait := t.wait(l.rate(t), now); wait > 0 {
			return rateLimited(t.perSecond, t.whose, wait)
		}
	}
	for _, t := range turns {
		t.take(l.rate(t), now)
	}
	return nil
}

// rate finds a rate, or begins it with a second's worth of tokens.
func (l *limiter) rate(t turn) *rate.Limiter {
	r := l.rates[t.id]
	if r == nil || r.Limit() != rate.Limit(t.perSecond) {
		if len(l.rates) >= maxLimiters {
			clear(l.rates)
		}
		r = rate.NewLimiter(rate.Limit(t.perSecond), t.perSecond)
		l.rates[t.id] = r
	}
	return r
}

// fits takes room for a body within the account's storage: against a sum that
// was read at most storedTTL ago, plus what this node has taken since. Looking
// and taking are one step, so that calls at the same time do not all fit into
// the same room.
func (l *limiter) fits(ctx context.Context, account gateway.AccountID, size int) error {
	limit := l.limits.AccountStoredBytes
	if limit <= 0 {
		return nil
	}
	if err := l.readStored(ctx, account); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.stored[account]
	if s.bytes+int64(size) > limit {
		return &RateLimitedError{Retry: storageRetry, Detail: "this account has stored as many bytes as it may"}
	}
	s.bytes += int64(size)
	l.stored[account] = s
	return nil
}

// readStored reads the account's sum anew when the last one is too old.
func (l *limiter) readStored(ctx context.Context, account gateway.AccountID) error {
	now := l.clock.Now()
	if l.knowsStored(account, now) {
		return nil
	}
	since := now.Add(-cmp.Or(l.limits.Retention, storedTTL))
	bytes, err := l.store.StoredBytes(ctx, account, since)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	// Another call may have read it meanwhile, and room been taken since.
	if s, ok := l.stored[account]; ok && now.Sub(s.readAt).Abs() < storedTTL {
		return nil
	}
	if len(l.stored) >= maxLimiters {
		clear(l.stored)
	}
	l.stored[account] = storedBytes{bytes: bytes, readAt: now}
	return nil
}

func (l *limiter) knowsStored(account gateway.AccountID, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	s, ok := l.stored[account]
	return ok && now.Sub(s.readAt).Abs() < storedTTL
}
