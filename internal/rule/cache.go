package rule

import (
	"container/list"
	"context"
	"errors"
	"sync"

	"github.com/rowlock/rowlock/internal/gateway"
)

// cached is how many compiled filters, or rules, are kept: each expression takes
// some 10 KiB, and most of a millisecond to compile again.
const cached = 2_000

// cache keeps what was compiled, under what it was compiled of: the same words
// mean the same everywhere. What was used last stays.
type cache[K comparable, V any] struct {
	mu   sync.Mutex
	used *list.List // of *entry, what was used last in front
	all  map[K]*list.Element
	most int
}

// entry is something compiled, under what it was compiled of.
type entry[K comparable, V any] struct {
	of      K
	compile func() (V, error)
}

func newCache[K comparable, V any]() cache[K, V] {
	return cache[K, V]{used: list.New(), all: map[K]*list.Element{}, most: cached}
}

// get compiles what is not there yet. Errors are kept as well.
func (c *cache[K, V]) get(of K, compile func() (V, error)) (V, error) {
	return c.entry(of, compile).compile()
}

func (c *cache[K, V]) entry(of K, compile func() (V, error)) *entry[K, V] {
	c.mu.Lock()
	defer c.mu.Unlock()
	if known, ok := c.all[of]; ok {
		c.used.MoveToFront(known)
		return known.Value.(*entry[K, V])
	}
	e := &entry[K, V]{of, sync.OnceValues(compile)}
	c.all[of] = c.used.PushFront(e)
	if len(c.all) > c.most {
		oldest := c.used.Remove(c.used.Back()).(*entry[K, V])
		delete(c.all, oldest.of)
	}
	return e
}

// Filters compiles filters and keeps what was used last. It is safe for use by
// several goroutines.
type Filters struct{ cache[string, *Filter] }

// NewFilters makes Filters that keep none yet.
func NewFilters() *Filters { return &Filters{newCache[string, *Filter]()} }

// Filter returns the compiled filter. A SyntaxError says what is wrong with it,
// and is kept as well.
func (f *Filters) Filter(text string) (*Filter, error) {
	return f.get(text, func() (*Filter, error) { return CompileFilter(text) })
}

// Rules compiles rules of sources and keeps what was used last. It is safe for
// use by several goroutines.
type Rules struct{ cache[version, *Rule] }

// version is a rule of a source as it was at one time.
type version struct {
	source gateway.SourceID
	n      int
}

// NewRules makes Rules that keep none yet.
func NewRules() *Rules { return &Rules{newCache[version, *Rule]()} }

// Rule returns the compiled rule of a source. FieldErrors say what is wrong with
// it, and are kept as well.
func (r *Rules) Rule(source gateway.SourceID, n int, rule gateway.Rule) (*Rule, error) {
	return r.get(version{source, n}, func() (*Rule, error) { return CompileRule(rule) })
}

// Wants tells whether an endpoint with these patterns of types and this filter
// asks for an event; an empty filter lets every event of the types through. An
// EvalError tells that the filter has no answer, which counts as no. Any other
// error is the context's.
func (f *Filters) Wants(ctx context.Context, patterns []string, filter string, in *Input) (bool, error) {
	switch {
	case !gateway.MatchesType(patterns, in.Type()):
		return false, nil
	case filter == "":
		return true, nil
	}
	compiled, err := f.Filter(filter)
	if syntax, ok := errors.AsType[*SyntaxError](err); ok {
		return false, &EvalError{"it cannot be compiled: " + syntax.Error()}
	}
	if err != nil {
		return false, err
	}
	return compiled.Match(ctx, in)
}
