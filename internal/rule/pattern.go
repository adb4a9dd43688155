package rule

import (
	"errors"
	"regexp"

	"cel.dev/cel-go/common/overloads"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/interpreter"
)

const (
	// maxPattern is the largest regular expression, in instructions: x{1000} is
	// one of 1,000.
	maxPattern = 2_000
	// maxMatching bounds one match, in instructions times bytes of text: some
	// 50 ms for the worst of patterns. No deadline ends a match before its end.
	maxMatching = 2_000_000
	// matchingAStep is how much of a match is one step.
	matchingAStep = 16
)

var (
	errPatternTooLarge = errors.New("the pattern of matches() is too large: repeat less in it")
	errPattern         = errors.New("the pattern of matches() is no regular expression")
)

// patternSizes are the regular expressions of one expression and how many
// instructions each has. All are known when it is compiled, since patterns have
// to be written out, and are only read afterwards.
type patternSizes map[string]uint64

// matching has CEL compile patterns once, and match by them only what is not
// too long.
func (p patternSizes) matching(overload string) *interpreter.RegexOptimization {
	return &interpreter.RegexOptimization{
		Function: overloads.Matches, OverloadID: overload, RegexIndex: 1,
		Factory: func(call interpreter.InterpretableCall, pattern string) (interpreter.InterpretableCall, error) {
			compiled, err := p.compile(pattern)
			if err != nil {
				return nil, err
			}
			size := p[pattern]
			return interpreter.NewCall(call.ID(), call.Function(), call.OverloadID(), call.Args(), func(values ...ref.Val) ref.Val {
				return match(compiled, size, values)
			}), nil
		},
	}
}

func (p patternSizes) compile(pattern string) (*regexp.Regexp, error) {
	size, err := types.RegexProgramSize(pattern)
	switch {
	case err != nil:
		return nil, errPattern
	case size > maxPattern:
		return nil, errPatternTooLarge
	}
	p[pattern] = uint64(size) //nolint:gosec // a length
	return regexp.Compile(pattern)
}

func match(compiled *regexp.Regexp, size uint64, values []ref.Val) ref.Val {
	if len(values) != 2 {
		return types.NoSuchOverloadErr()
	}
	text, ok := values[0].(types.String)
	if !ok {
		return types.MaybeNoSuchOverloadErr(values[0])
	}
	if uint64(len(text))*size > maxMatching {
		return types.NewErr("the text is too long for the pattern of matches()")
	}
	return types.Bool(compiled.MatchString(string(text)))
}

// steps is what a match has cost.
func (p patternSizes) steps(args []ref.Val) uint64 {
	if len(args) != 2 {
		return 0
	}
	text, ok := args[0].(types.String)
	pattern, known := args[1].(types.String)
	if !ok || !known {
		return 0
	}
	work := uint64(len(text)) * p[string(pattern)]
	if work > maxMatching {
		return 0 // it was not matched
	}
	return work / matchingAStep
}
