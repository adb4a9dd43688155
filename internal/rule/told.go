package rule

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"

	"github.com/rowlock/rowlock/internal/gateway"
)

// acceptDeadline bounds one evaluation while a sender waits for its answer. What
// it ends is evaluated again when the event is decided.
const acceptDeadline = 20 * time.Millisecond

// Rule is a source's rule, ready to be asked. Several goroutines may use it at
// once.
type Rule struct {
	gateway.Rule

	key, kind, subject, state, emit *program
}

// FieldError says which expression of a rule is wrong; it wraps a SyntaxError.
type FieldError struct {
	// Field is "key", "type", "subject", "state" or "emit".
	Field string
	// Err says what is wrong with it.
	Err error
}

// Error tells field and fault.
func (e *FieldError) Error() string { return e.Field + ": " + e.Err.Error() }

// Unwrap is what is wrong.
func (e *FieldError) Unwrap() error { return e.Err }

// CompileRule compiles the expressions of a rule. Those that are wrong are told
// at once: FieldErrors, joined.
func CompileRule(r gateway.Rule) (*Rule, error) {
	compiled := &Rule{Rule: r}
	var faults []error
	for _, field := range []struct {
		name, text string
		into       **program
		want       []*cel.Type
		otherwise  string
	}{
		{"key", r.Key, &compiled.key, textOrWhole, "comes out as %s, and a key has to be a text or a whole number"},
		{"type", r.Type, &compiled.kind, []*cel.Type{cel.StringType}, "comes out as %s, and a type has to be a text"},
		{"subject", r.Subject, &compiled.subject, textOrWhole, "comes out as %s, and a subject has to be a text or a whole number"},
		{"state", r.State, &compiled.state, append([]*cel.Type{cel.NullType}, textOrWhole...), "comes out as %s, and a state has to be a text, a whole number or null"},
		{"emit", r.Emit, &compiled.emit, []*cel.Type{cel.StringType, cel.NullType}, "comes out as %s, and what is emitted has to be a text or null"},
	} {
		if field.text == "" {
			continue
		}
		var err error
		if *field.into, err = compileFor(field.text, field.want, field.otherwise); err != nil {
			faults = append(faults, &FieldError{field.name, err})
		}
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	return compiled, nil
}

var textOrWhole = []*cel.Type{cel.StringType, cel.IntType, cel.UintType}

// Arrival is what a rule says of an event that comes in. What it does not speak
// of is empty.
type Arrival struct{ Type, Key string }

// Arrive asks for the type and the key of an event, in this order: the key sees
// the type. What has no answer stays empty; the EvalError says why. Any other
// error is the context's.
func (r *Rule) Arrive(ctx context.Context, in *Input) (Arrival, error) {
	return r.name(ctx, in, limits{acceptDeadline, 1})
}

// Name is Arrive for an event that is being decided: there is more time.
func (r *Rule) Name(ctx context.Context, in *Input) (Arrival, error) {
	return r.name(ctx, in, limits{deadline, tries})
}

func (r *Rule) name(ctx context.Context, in *Input, l limits) (a Arrival, err error) {
	var noType, noKey error
	if a.Type, noType = ask(ctx, in, l, "type", r.kind, typeOf); a.Type != "" {
		in.event.Type = a.Type
	}
	a.Key, noKey = ask(ctx, in, l, "key", r.key, bounded(gateway.MaxKeyLength))
	return a, firstOf(noType, noKey)
}

// firstOf prefers what is no EvalError: it ends all.
func firstOf(errs ...error) (first error) {
	for _, err := range errs {
		if _, said := errors.AsType[*EvalError](err); err != nil && !said {
			return err
		}
		if first == nil {
			first = err
		}
	}
	return first
}

// Meaning is what a rule says of an event that is decided. What it does not
// speak of is empty.
type Meaning struct {
	Subject string
	// State is what the event reports of its subject; empty for nothing.
	State string
	// Emit is the type that it is told as; Silent tells that it is told to nobody.
	Emit   string
	Silent bool
}

// Decide asks what an event means, in the order of the fields: each sees what
// those before it said. An EvalError says what has no answer; any other error is
// the context's.
func (r *Rule) Decide(ctx context.Context, in *Input) (m Meaning, err error) {
	l := limits{deadline, tries}
	if m.Subject, err = ask(ctx, in, l, "subject", r.subject, subjectOf); err != nil {
		return m, err
	}
	if m.Subject != "" {
		in.event.Subject = m.Subject
	}
	if m.State, err = ask(ctx, in, l, "state", r.state, orNull(stateOf)); err != nil {
		return m, err
	}
	m.Emit, err = ask(ctx, in, l, "emit", r.emit, orNull(typeOf))
	m.Silent = r.emit != nil && m.Emit == ""
	return m, err
}

// ask is what one expression says, as a text; there need not be one.
func ask(ctx context.Context, in *Input, l limits, field string, p *program, read func(ref.Val) (string, error)) (string, error) {
	if p == nil {
		return "", nil
	}
	value, err := p.evaluate(ctx, in, l)
	if err == nil {
		var text string
		if text, err = read(value); err == nil {
			return text, nil
		}
	}
	if failed, ok := errors.AsType[*EvalError](err); ok {
		return "", &EvalError{"the rule's " + field + " has no answer: " + failed.Reason}
	}
	return "", err
}

// orNull lets null stand for nothing.
func orNull(read func(ref.Val) (string, error)) func(ref.Val) (string, error) {
	return func(v ref.Val) (string, error) {
		if v == types.NullValue {
			return "", nil
		}
		return read(v)
	}
}

// bounded reads a text or a whole number, of so many bytes at the most. Whole
// numbers are exact: none is rounded to its neighbour.
func bounded(most int) func(ref.Val) (string, error) {
	return func(v ref.Val) (string, error) {
		var text string
		switch n := v.(type) {
		case types.String:
			text = string(n)
		case types.Int:
			text = strconv.FormatInt(int64(n), 10)
		case types.Uint:
			text = strconv.FormatUint(uint64(n), 10)
		default:
			return "", &EvalError{fmt.Sprintf("it comes out as %s, not as a text or a whole number", kindOf(v))}
		}
		switch {
		case text == "":
			return "", &EvalError{"it comes out empty"}
		case len(text) > most:
			return "", &EvalError{fmt.Sprintf("it comes out longer than %d bytes", most)}
		}
		return text, nil
	}
}

func subjectOf(v ref.Val) (string, error) { return plainText(v, gateway.MaxSubjectLength) }

func stateOf(v ref.Val) (string, error) { return plainText(v, gateway.MaxStateLength) }

// plainText is a text that columns can hold.
func plainText(v ref.Val, most int) (string, error) {
	text, err := bounded(most)(v)
	if err == nil && strings.ContainsRune(text, 0) {
		return "", &EvalError{"it comes out with a NUL character"}
	}
	return text, err
}

// typeOf reads a type of events.
func typeOf(v ref.Val) (string, error) {
	text, ok := v.(types.String)
	if !ok {
		return "", &EvalError{fmt.Sprintf("it comes out as %s, not as a text", kindOf(v))}
	}
	if err := gateway.CheckRuleType(string(text)); err != nil {
		invalid, _ := errors.AsType[*gateway.InvalidError](err)
		return "", &EvalError{"it comes out as no type of events: " + invalid.Detail}
	}
	return string(text), nil
}
