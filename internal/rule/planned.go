package rule

import (
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/cost"
)

const (
	// typicalSize is how many items a list is taken to have when nobody has seen
	// the event.
	typicalSize = 100
	// maxPlanned is what an expression may cost for an event whose lists are of
	// that size, in parts of it that are looked at: three loops in each other,
	// and not four.
	maxPlanned = 50_000_000
)

// planned is how often parts of an expression are looked at, if it is reached
// so many times itself.
func planned(e ast.Expr, times uint64) uint64 {
	total := times
	add := func(times uint64, parts ...ast.Expr) {
		for _, part := range parts {
			total = cost.SafeAdd(total, planned(part, times))
		}
	}
	switch e.Kind() {
	case ast.CallKind:
		add(times, e.AsCall().Args()...)
		if e.AsCall().IsMemberFunction() {
			add(times, e.AsCall().Target())
		}
	case ast.ComprehensionKind:
		loop := e.AsComprehension()
		add(times, loop.IterRange(), loop.AccuInit(), loop.Result())
		add(cost.SafeMultiply(times, typicalSize), loop.LoopCondition(), loop.LoopStep())
	case ast.SelectKind:
		add(times, e.AsSelect().Operand())
	case ast.ListKind:
		add(times, e.AsList().Elements()...)
	case ast.MapKind:
		for _, entry := range e.AsMap().Entries() {
			add(times, entry.AsMapEntry().Key(), entry.AsMapEntry().Value())
		}
	default: // constants and names have no parts
	}
	return total
}
