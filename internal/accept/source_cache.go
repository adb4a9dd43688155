package accept

import (
	"context"
	"sync"
	"time"

	"github.com/rowlock/rowlock/internal/clock"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/rule"
	"github.com/rowlock/rowlock/internal/signature"
	"github.com/rowlock/rowlock/internal/source/settings"
	"github.com/rowlock/rowlock/internal/store"
)

const (
	// sourceTTL is how long a source is believed to be as it was read. A change
	// is usually told at once (ForgetSources); this holds when it is not.
	sourceTTL = 5 * time.Second
	// maxCachedSources bounds the memory of the cache.
	maxCachedSources = 10_000
)

// knownSource is a source with what verifying needs.
type knownSource struct {
	gateway.Source

	settings settings.Chosen
	secrets  []signature.Secret
	// rule is the source's, compiled; nil where it has none.
	rule *rule.Rule
}

// cachedSource is what was read of a source, and when.
type cachedSource struct {
	source   gateway.Source
	settings settings.Chosen
	secrets  []gateway.Secret
	rule     *rule.Rule
	readAt   time.Time
}

// compiled is a source's rule; nil for none, and for one that this version does
// not understand.
func compiled(source gateway.Source) *rule.Rule {
	if source.Rule == nil {
		return nil
	}
	r, err := rule.CompileRule(*source.Rule)
	if err != nil {
		return nil
	}
	return r
}

// at is the source as it stands now: a secret whose end has come since the
// source was read is left out.
func (c *cachedSource) at(now time.Time) knownSource {
	known := knownSource{Source: c.source, settings: c.settings, rule: c.rule}
	known.settings.Scheme.Capturing = c.source.CaptureUntil != nil && c.source.CaptureUntil.After(now)
	for _, s := range c.secrets {
		if s.EndsAt == nil || s.EndsAt.After(now) {
			known.secrets = append(known.secrets, signature.Secret{ID: s.ID, Value: []byte(s.Value)})
		}
	}
	return known
}

// sourceCache remembers sources for moments. An unknown token is always looked
// up, and the result of a failed look-up is never kept.
type sourceCache struct {
	store *store.Store
	clock *clock.Clock

	mu         sync.Mutex
	generation int
	known      map[string]*cachedSource
	builtIn    map[gateway.AccountID]gateway.SourceID
}

func newSourceCache(s *store.Store, c *clock.Clock) *sourceCache {
	cache := &sourceCache{store: s, clock: c}
	cache.forget()
	return cache
}

// forget drops everything; a look-up that is under way is not kept either.
func (c *sourceCache) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.generation++
	c.known = map[string]*cachedSource{}
	c.builtIn = map[gateway.AccountID]gateway.SourceID{}
}

// byToken finds the source that an ingest address names.
func (c *sourceCache) byToken(ctx context.Context, token string) (knownSource, error) {
	c.mu.Lock()
	cached, generation := c.known[token], c.generation
	c.mu.Unlock()
	now := c.clock.Now()
	if cached != nil && now.Sub(cached.readAt).Abs() < sourceTTL {
		return cached.at(now), nil
	}
	source, secrets, err := c.store.SourceByToken(ctx, token)
	if err != nil {
		return knownSource{}, err
	}
	chosen, err := settingsOf(source)
	if err != nil {
		return knownSource{}, err
	}
	cached = &cachedSource{source: source, settings: chosen, secrets: secrets, rule: compiled(source), readAt: now}
	c.keep(token, cached, generation)
	return cached.at(now), nil
}

func (c *sourceCache) keep(token string, cached *cachedSource, generation int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.generation != generation {
		return
	}
	if len(c.known) >= maxCachedSources {
		clear(c.known)
	}
	c.known[token] = cached
}

// api returns the account's built-in source, which never changes.
func (c *sourceCache) api(ctx context.Context, account gateway.AccountID) (gateway.SourceID, error) {
	c.mu.Lock()
	id, ok := c.builtIn[account]
	c.mu.Unlock()
	if ok {
		return id, nil
	}
	id, err := c.store.APISource(ctx, account)
	if err != nil {
		return id, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.builtIn) >= maxCachedSources {
		clear(c.builtIn)
	}
	c.builtIn[account] = id
	return id, nil
}
