package accept

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/rowlock/rowlock/internal/clock"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/schema"
	"github.com/rowlock/rowlock/internal/store"
)

const (
	// maxCachedAccounts bounds how many accounts' types are remembered.
	maxCachedAccounts = 1000
	// maxCachedSchemas and maxCachedSchemaBytes bound what is compiled, which is
	// many times as large as what was written.
	maxCachedSchemas     = 1000
	maxCachedSchemaBytes = 4 << 20
)

// typeCache remembers for moments what accounts declared of their types, so
// that an event that is published costs no look-up: most accounts declare
// nothing, and those that do change it rarely. It refuses early, and no more:
// what must hold is asked again in the transaction that decides.
type typeCache struct {
	store *store.Store
	clock *clock.Clock

	mu         sync.Mutex
	generation int
	accounts   map[gateway.AccountID]declaredTypes
	schemas    map[schemaKey]*schema.Schema
	// bytes is how long the schemas are that are compiled.
	bytes int
}

// declaredTypes are an account's, by name, and when they were read.
type declaredTypes struct {
	byName map[string]store.DeclaredType
	readAt time.Time
}

// schemaKey names what was compiled: a version stands for one schema for good.
type schemaKey struct {
	account gateway.AccountID
	name    string
	version int64
}

func newTypeCache(s *store.Store, c *clock.Clock) *typeCache {
	cache := &typeCache{store: s, clock: c, schemas: map[schemaKey]*schema.Schema{}}
	cache.forget()
	return cache
}

// forget drops what is remembered of types; a look-up that is under way is not
// kept either. What is compiled stays: it is found by its version.
func (c *typeCache) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.generation++
	c.accounts = map[gateway.AccountID]declaredTypes{}
}

// declared finds what the account declared of a type, if it did.
func (c *typeCache) declared(ctx context.Context, account gateway.AccountID, name string) (store.DeclaredType, bool, error) {
	c.mu.Lock()
	types, known, generation := c.accounts[account], false, c.generation
	c.mu.Unlock()
	now := c.clock.Now()
	if known = types.byName != nil && now.Sub(types.readAt).Abs() < sourceTTL; !known {
		read, err := c.store.DeclaredTypes(ctx, account)
		if err != nil {
			return store.DeclaredType{}, false, err
		}
		types = declaredTypes{byName: make(map[string]store.DeclaredType, len(read)), readAt: now}
		for _, t := range read {
			types.byName[t.Name] = t
		}
		c.keep(account, types, generation)
	}
	found, ok := types.byName[name]
	return found, ok, nil
}

func (c *typeCache) keep(account gateway.AccountID, types declaredTypes, generation int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.generation != generation {
		return
	}
	if len(c.accounts) >= maxCachedAccounts {
		clear(c.accounts)
	}
	c.accounts[account] = types
}

// schema returns a type's schema, compiled; nil when the type or its schema is
// gone meanwhile.
func (c *typeCache) schema(ctx context.Context, account gateway.AccountID, declared store.DeclaredType) (*schema.Schema, error) {
	c.mu.Lock()
	compiled := c.schemas[schemaKey{account, declared.Name, declared.Version}]
	c.mu.Unlock()
	if compiled != nil {
		return compiled, nil
	}
	read, err := c.store.EventType(ctx, account, declared.Name)
	if errors.Is(err, gateway.ErrNotFound) || err == nil && read.Schema == nil {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if compiled, err = schema.New(read.Schema); err != nil {
		return nil, fmt.Errorf("compile the schema of an event type: %w", err)
	}
	c.keepSchema(schemaKey{account, read.Name, read.Version}, compiled, len(read.Schema))
	return compiled, nil
}

func (c *typeCache) keepSchema(key schemaKey, compiled *schema.Schema, size int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.schemas) >= maxCachedSchemas || c.bytes+size > maxCachedSchemaBytes {
		clear(c.schemas)
		c.bytes = 0
	}
	if c.schemas[key] == nil {
		c.bytes += size
	}
	c.schemas[key] = compiled
}
