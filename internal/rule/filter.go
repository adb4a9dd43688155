package rule

import (
	"context"
	"fmt"
	"time"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
)

// Filter is what an event must meet, ready to be asked. Several goroutines may
// use it at once.
type Filter struct{ program *program }

// CompileFilter compiles a filter. A SyntaxError says what is wrong with it.
func CompileFilter(text string) (*Filter, error) {
	program, err := compile(text, cel.BoolType, "comes out as %s, and a filter has to be true or false")
	if err != nil {
		return nil, err
	}
	return &Filter{program}, nil
}

// CheckFilter tells what is wrong with a filter, as CompileFilter would.
func CheckFilter(text string) error {
	_, err := CompileFilter(text)
	return err
}

// EvalError says why an expression has no value for an event: a field that is
// not there, values that do not go together, too many steps.
type EvalError struct {
	// Reason is a phrase for people, without a full stop. It can repeat names
	// of the expression.
	Reason string
}

// Error is the reason.
func (e *EvalError) Error() string { return e.Reason }

// tries is how often what ran into the deadline is run: the machine may have
// been busy with something else.
const tries = 2

// Match tells whether an event meets the filter. An EvalError tells that it
// cannot be said; the event then does not meet it. Any other error is the
// context's.
func (f *Filter) Match(ctx context.Context, in *Input) (bool, error) {
	value, err := f.program.evaluate(ctx, in, limits{deadline, tries})
	if err != nil {
		return false, err
	}
	matches, ok := value.(types.Bool)
	if !ok {
		return false, &EvalError{fmt.Sprintf("it comes out as %s, not as true or false", kindOf(value))}
	}
	return bool(matches), nil
}

// limits bound an evaluation in time: each try, and how many there are.
type limits struct {
	each  time.Duration
	tries int
}

// evaluate is the value for an event: an EvalError, or the context's, when
// there is none.
func (p *program) evaluate(ctx context.Context, in *Input, l limits) (ref.Val, error) {
	for range l.tries {
		value, err := p.within(ctx, in, l.each)
		switch {
		case err == nil:
			return value, nil
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case !interrupted(err):
			return nil, in.failure(err)
		}
	}
	return nil, &EvalError{"it takes too long"}
}

// within evaluates up to the deadline.
func (p *program) within(ctx context.Context, in *Input, deadline time.Duration) (ref.Val, error) {
	runs := p.whole
	if in.spent > maxEventTime {
		var err error
		if runs, err = p.brief(); err != nil {
			return nil, err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	begun := time.Now()
	value, _, err := runs.ContextEval(ctx, in)
	in.spent += time.Since(begun)
	return value, err
}

// failure is why there is no value.
func (in *Input) failure(err error) error {
	reason := reasonOf(err)
	if in.notJSON() {
		reason += " (the payload is not JSON, so body is null)"
	}
	return &EvalError{reason}
}

// kindOf is what a value is called where people read it.
func kindOf(v ref.Val) string {
	if t, ok := v.Type().(*types.Type); ok {
		return typeName(t)
	}
	return "something else"
}
