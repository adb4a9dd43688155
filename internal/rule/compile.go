package rule

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/overloads"
	"cel.dev/cel-go/common/types"

	"github.com/rowlock/rowlock/internal/gateway"
)

// SyntaxError says what is wrong with an expression, for who wrote it.
type SyntaxError struct {
	// Line and Column count from 1, columns in characters; both are zero where
	// the whole expression is meant.
	Line, Column int
	// Message is a phrase without a full stop.
	Message string
}

// Error tells the place, where there is one, and what is wrong there.
func (e *SyntaxError) Error() string {
	if e.Line == 0 {
		return e.Message
	}
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Message)
}

func wrong(format string, args ...any) error {
	return &SyntaxError{Message: fmt.Sprintf(format, args...)}
}

// program is an expression, ready to be evaluated.
type program struct {
	whole cel.Program
	// brief gives up after fewSteps. It is made when it is needed.
	brief func() (cel.Program, error)
}

// compile makes an expression runnable whose value has the type that is wanted,
// or one that is only known when it runs. Its error is a SyntaxError, but for
// faults of our own.
func compile(text string, want *cel.Type, otherwise string) (*program, error) {
	return compileFor(text, []*cel.Type{want}, otherwise)
}

// compileFor is compile for a value of one of several types.
func compileFor(text string, want []*cel.Type, otherwise string) (*program, error) {
	switch {
	case len(text) > gateway.MaxFilterLength:
		return nil, wrong("want at most %d bytes", gateway.MaxFilterLength)
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		return nil, wrong("want UTF-8 without NUL characters")
	case strings.TrimSpace(text) == "":
		return nil, wrong("is empty")
	}
	env, err := environment()
	if err != nil {
		return nil, fmt.Errorf("make the environment of rules: %w", err)
	}
	checked, issues := check(env, text)
	if issues.Err() != nil {
		return nil, syntaxError(text, issues.Errors()[0])
	}
	got := checked.OutputType()
	if got.Kind() != types.DynKind && !slices.ContainsFunc(want, got.IsExactType) {
		return nil, wrong(otherwise, typeName(got))
	}
	if err := affordable(checked); err != nil {
		return nil, err
	}
	whole, err := plan(env, checked, maxSteps)
	if err != nil {
		return nil, wrong("%s", planFault(err))
	}
	brief := sync.OnceValues(func() (cel.Program, error) { return plan(env, checked, fewSteps) })
	return &program{whole, brief}, nil
}

// check parses an expression and finds out its types. One branch of a ? b : c may
// be null whatever the other is: CEL asks for equal types, and null is how a rule
// says that there is nothing.
func check(env *cel.Env, text string) (*cel.Ast, *cel.Issues) {
	parsed, issues := env.Parse(text)
	if issues.Err() != nil {
		return nil, issues
	}
	root := parsed.NativeRep().Expr()
	next := ast.MaxID(parsed.NativeRep())
	make := ast.NewExprFactory()
	ast.PostOrderVisit(root, ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.CallKind || e.AsCall().FunctionName() != operators.Conditional {
			return
		}
		for _, branch := range e.AsCall().Args()[1:] {
			if branch.Kind() == ast.LiteralKind && branch.AsLiteral() == types.NullValue {
				next++
				branch.SetKindCase(make.NewCall(branch.ID(), "dyn", make.NewLiteral(next, types.NullValue)))
			}
		}
	}))
	return env.Check(parsed)
}

// affordable refuses what would take too long for most events, and patterns that
// come with the event: nobody knows how large those are.
func affordable(checked *cel.Ast) error {
	var at *SyntaxError
	ast.PostOrderVisit(checked.NativeRep().Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.CallKind || e.AsCall().FunctionName() != overloads.Matches {
			return
		}
		if args := e.AsCall().Args(); args[len(args)-1].Kind() != ast.LiteralKind {
			start := checked.NativeRep().SourceInfo().GetStartLocation(e.ID())
			at = &SyntaxError{start.Line(), start.Column() + 1, "the pattern of matches() has to be written out, such as r'^a+$'"}
		}
	}))
	if at != nil {
		return at
	}
	if planned(checked.NativeRep().Expr(), 1) > maxPlanned {
		return wrong("takes too long where lists have %d items: put fewer loops (all, exists, filter, map) into each other", typicalSize)
	}
	return nil
}

// planFault says what is wrong with a constant of an expression.
func planFault(err error) string {
	for _, known := range []error{errPattern, errPatternTooLarge} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	return reasonOf(err)
}

// typeName is what a type is called where people read it.
func typeName(t *cel.Type) string {
	switch t.Kind() {
	case types.StringKind:
		return "a text"
	case types.IntKind, types.UintKind, types.DoubleKind:
		return "a number"
	case types.ListKind:
		return "a list"
	case types.MapKind:
		return "an object"
	case types.NullTypeKind:
		return "null"
	case types.BoolKind:
		return "true or false"
	default:
		return "a " + cel.FormatCELType(t)
	}
}
