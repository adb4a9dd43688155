package rule

import (
	"container/list"
	"context"
	"errors"
	"sync"

	"github.com/rowlock/rowlock/internal/gateway"
)

// cached is how many compiled filters are kept: each takes some 10 KiB, and
// most of a millisecond to compile again.
const cached = 2_000

// Filters compiles filters and keeps what was used last. It is safe for use by
// several goroutines.
type Filters struct {
	mu   sync.Mutex
	used *list.List // of *entry, what was used last in front
	all  map[string]*list.Element
	most int
}

// entry is a filter under its text: the same words mean the same everywhere.
type entry struct {
	text    string
	compile func() (*Filter, error)
}

// NewFilters makes Filters that keep none yet.
func NewFilters() *Filters {
	return &Filters{used: list.New(), all: map[string]*list.Element{}, most: cached}
}

// Filter returns the compiled filter. A SyntaxError says what is wrong with it,
// and is kept as well.
func (f *Filters) Filter(text string) (*Filter, error) { return f.entry(text).compile() }

func (f *Filters) entry(text string) *entry {
	f.mu.Lock()
	defer f.mu.Unlock()
	if known, ok := f.all[text]; ok {
		f.used.MoveToFront(known)
		return known.Value.(*entry)
	}
	e := &entry{text, sync.OnceValues(func() (*Filter, error) { return CompileFilter(text) })}
	f.all[text] = f.used.PushFront(e)
	if len(f.all) > f.most {
		oldest := f.used.Remove(f.used.Back()).(*entry)
		delete(f.all, oldest.text)
	}
	return e
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
