// Package rule evaluates what people write about events in CEL, the Common
// Expression Language: the filters of endpoints, and the rules of sources.
//
// An expression is compiled once and run often, against events from anybody.
// It sees six variables: body (the decoded JSON, or null), headers, query,
// type, subject and source. Nothing that it can say takes long or grows large:
// what it may cost is bounded when it is saved, counted while it runs, and ends
// at a deadline.
package rule

import (
	"sync"
	"time"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/interpreter"

	"github.com/rowlock/rowlock/internal/gateway"
)

// Names of the variables.
const (
	varBody    = "body"
	varHeaders = "headers"
	varQuery   = "query"
	varType    = "type"
	varSubject = "subject"
	varSource  = "source"
)

const (
	// maxSteps is what one evaluation may cost, in steps of about 100 ns: a look
	// at 40,000 items of a list. The same event always costs the same.
	maxSteps = 200_000
	// fewSteps is what one evaluation may cost when those of the event before it
	// have taken maxEventTime together. Most cost some ten: who has a thousand of
	// the dearest filters keeps nobody waiting, and takes nothing from the others.
	fewSteps     = 5_000
	maxEventTime = time.Second / 2
	// maxGrown is the longest text that an expression can put together, in
	// bytes.
	maxGrown = 1 << 20
	// deadline bounds one evaluation of an event that is being decided. Steps
	// end what is dear; this ends what a busy machine does not get done.
	deadline = 100 * time.Millisecond
	// interruptEvery is after how many calls and rounds of a loop the deadline is
	// looked at: one call may take tens of milliseconds.
	interruptEvery = 1
)

// environment is what all expressions are compiled in; it is made once.
var environment = sync.OnceValues(newEnvironment)

// newEnvironment makes an environment that may be used by many at once.
func newEnvironment() (*cel.Env, error) {
	text := cel.MapType(cel.StringType, cel.StringType)
	env, err := cel.NewEnv(
		cel.Variable(varBody, cel.DynType),
		cel.Variable(varHeaders, text),
		cel.Variable(varQuery, text),
		cel.Variable(varType, cel.StringType),
		cel.Variable(varSubject, cel.StringType),
		cel.Variable(varSource, text),
		cel.CrossTypeNumericComparisons(true),
		cel.EnableIdentifierEscapeSyntax(),
		cel.OptionalTypes(),
		cel.ParserExpressionSizeLimit(gateway.MaxFilterLength),
	)
	if err != nil {
		return nil, err
	}
	// The first name that is not known makes cel-go list those that are, and the
	// checker reads that list unguarded (v0.33.2, checker.Env.cloneWithDecls): it
	// is there before anybody shares the environment.
	env.Compile("unknown")
	return env, nil
}

// plan makes a checked expression runnable, for so many steps.
func plan(env *cel.Env, checked *cel.Ast, steps uint64) (cel.Program, error) {
	patterns := patternSizes{}
	return env.Program(checked,
		cel.EvalOptions(cel.OptOptimize),
		cel.CustomDecoratorV2(guarded),
		cel.OptimizeRegex(patterns.matching("matches"), patterns.matching("matches_string")),
		cel.CostTracking(stepCounter{patterns}),
		cel.CostLimit(steps),
		cel.InterruptCheckFrequency(interruptEvery),
	)
}

// exceeded tells that an evaluation was ended for what it cost.
func exceeded(cause interpreter.CancellationCause) bool {
	return cause == interpreter.CostLimitExceeded || cause == interpreter.MemoryLimitExceeded
}
