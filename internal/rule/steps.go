package rule

import (
	"math"

	"cel.dev/cel-go/common/cost"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/overloads"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
)

const (
	// charactersAStep is how much text is read in one step.
	charactersAStep = 10
	// zoneSteps is what looking up a time zone costs: it is read from a file.
	zoneSteps = 1000
)

// deep measures lists and maps with all that is in them. What is larger than an
// evaluation may cost is not measured to its end.
var deep = types.NewSizeCalculator(
	types.SizeCalculatorMaxDepth(maxDepth),
	types.SizeCalculatorMaxTraversal(maxSteps/10),
	types.SizeCalculatorStringUnitLength(charactersAStep),
)

// stepCounter says what a call has cost, from the values that it got: CEL's own
// count takes a call on values whose types are known only now for one step,
// however large they are.
type stepCounter struct{ patterns patternSizes }

var _ cost.ActualCostEstimator = stepCounter{}

// CallCost counts the steps of a call that was made.
func (c stepCounter) CallCost(function, _ string, args []ref.Val, result ref.Val) *uint64 {
	steps := uint64(1)
	for _, arg := range args {
		steps += textSteps(arg)
	}
	switch function {
	case operators.Equals, operators.NotEquals:
		steps += comparison(args)
	case operators.In, operators.OldIn:
		steps += membership(args)
	case operators.Add:
		steps = cost.SafeAdd(steps, growth(args, result))
	case functionMaking:
		steps = cost.SafeAdd(steps, deepSize(result))
	case overloads.Matches:
		steps += c.patterns.steps(args)
	default:
		if len(args) > 1 && args[0].Type() == types.TimestampType && args[1].Type() == types.StringType {
			steps += zoneSteps
		}
	}
	return &steps
}

// textSteps is what reading a text costs; other values are not read as a whole.
func textSteps(v ref.Val) uint64 {
	switch text := v.(type) {
	case types.String:
		return uint64(len(text)) / charactersAStep
	case types.Bytes:
		return uint64(len(text)) / charactersAStep
	default:
		return 0
	}
}

// comparison is what it costs to compare two lists or maps: the smaller one is
// walked through at the most.
func comparison(args []ref.Val) uint64 {
	if len(args) != 2 || !container(args[0]) || !container(args[1]) {
		return 0
	}
	return min(deepSize(args[0]), deepSize(args[1]))
}

// membership is what it costs to look for a value in a list.
func membership(args []ref.Val) uint64 {
	if len(args) != 2 {
		return 0
	}
	list, ok := args[1].(traits.Lister)
	if !ok {
		return 0
	}
	each := uint64(1)
	if container(args[0]) {
		each = deepSize(args[0])
	}
	return length(list) * (each + textSteps(args[0]))
}

// growth is what it costs to put two values together. A text above maxGrown
// costs more than there is. A list is put behind another one without a copy:
// all that lies in the shorter one is counted, so that whoever doubles a list
// pays for what it then holds.
func growth(args []ref.Val, result ref.Val) uint64 {
	if textSteps(result) > maxGrown/charactersAStep {
		return math.MaxUint64
	}
	if len(args) == 2 {
		first, ok := args[0].(traits.Lister)
		second, too := args[1].(traits.Lister)
		switch {
		case !ok || !too:
		case length(second) <= length(first):
			return deepSize(args[1])
		default:
			return deepSize(args[0])
		}
	}
	return textSteps(result)
}

func container(v ref.Val) bool {
	switch v.(type) {
	case traits.Lister, traits.Mapper:
		return true
	default:
		return false
	}
}

func length(list traits.Lister) uint64 {
	if n, ok := list.Size().(types.Int); ok && n > 0 {
		return uint64(n)
	}
	return 0
}

func deepSize(v ref.Val) uint64 { return uint64(deep.AggregateSize(v)) }
