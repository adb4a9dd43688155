package rule

import (
	"errors"

	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/interpreter"
)

// guarded has CEL look at the deadline before each call, and count what a list
// or an object holds when one is made. Without, nothing ends an expression
// that has no loop; and one that puts a list twice into a list, sixty times
// over, is small and takes for ever to compare.
func guarded(i interpreter.InterpretableV2) (interpreter.InterpretableV2, error) {
	switch node := i.(type) {
	case interpreter.InterpretableConstructor:
		for _, v := range node.InitVals() {
			if _, constant := v.(interpreter.InterpretableConst); !constant {
				return measured{node}, nil
			}
		}
	case interpreter.InterpretableCall:
		return punctual{node}, nil
	}
	return i, nil
}

// punctual is a call that is not begun after the deadline.
type punctual struct{ interpreter.InterpretableCall }

// Exec calls, or ends the evaluation.
func (p punctual) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	if frame.CheckInterrupt() {
		panic(interpreter.EvalCancelledError{Cause: interpreter.ContextCancelled, Message: "interrupted"}) // CEL takes it up
	}
	return p.InterpretableCall.Exec(frame)
}

// measured is a list or an object that costs what it holds, with all that lies
// in it.
type measured struct {
	interpreter.InterpretableConstructor
}

// Exec makes the value and counts it.
func (m measured) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	value := m.InterpretableConstructor.Exec(frame)
	if steps := frame.CostTracker(); steps != nil {
		steps.EvalUnary(frame, m.ID(), making{}, value, value)
	}
	return value
}

// making is how stepCounter knows what measured counts.
type making struct{}

const functionMaking = "@make"

// Function is no name that an expression can call.
func (making) Function() string { return functionMaking }

// OverloadID is the same.
func (making) OverloadID() string { return functionMaking }

// interrupted tells that an evaluation ran into the deadline.
func interrupted(err error) bool {
	ended, ok := errors.AsType[interpreter.EvalCancelledError](err)
	return errors.Is(err, interpreter.InterruptError{}) || ok && ended.Cause == interpreter.ContextCancelled
}
