package schema

import (
	"encoding/json"
	"errors"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

const (
	// stepsAtLeast and stepsForByte are what checking may cost: some data of a
	// kilobyte takes a few hundred steps.
	stepsAtLeast = 200_000
	stepsForByte = 8
	// maxFailures bounds the memory of what is found: each step that says no
	// leaves a trace, also one whose no is wanted.
	maxFailures = 20_000
	// bytesForStep is how much of a text a step looks at.
	bytesForStep = 64
)

var (
	errTooCostly     = errors.New("too costly")
	errTooManyFaults = errors.New("too many faults")
)

// meter counts what one check costs, and ends it by a panic: the library has no
// other way out.
type meter struct{ steps, failures int }

func (m *meter) begin(size int) {
	m.steps, m.failures = stepsAtLeast+stepsForByte*size, maxFailures
}

func (m *meter) spend(steps int) {
	if m.steps -= steps; m.steps < 0 {
		panic(errTooCostly)
	}
}

// fail counts a no, and returns it.
func (m *meter) fail(reason string) error {
	if m.failures--; m.failures < 0 {
		panic(errTooManyFaults)
	}
	return reasonError(reason)
}

// reasonError is what a guard says no with.
type reasonError string

// Error is the reason.
func (e reasonError) Error() string { return string(e) }

// guard stands in each schema object in the place of its format, which the
// library asks before all else, and takes over what else would cost or fail
// uncounted: a schema that is false, types, and lists of values. Formats
// themselves are notes in the draft that is the default, and not checked in any.
type guard struct {
	meter *meter
	never bool
	types []string
	// values are those of enum and const, each in its one spelling.
	enum, constant map[string]bool
}

// guardOf takes over what a schema asks.
func guardOf(s *jsonschema.Schema, m *meter) *guard {
	g := &guard{meter: m}
	if s.Bool != nil && !*s.Bool {
		g.never, s.Bool = true, nil
	}
	if s.Types != nil {
		g.types, s.Types = s.Types.ToStrings(), nil
	}
	if s.Enum != nil {
		g.enum, s.Enum = spellings(s.Enum.Values), nil
	}
	if s.Const != nil {
		g.constant, s.Const = spellings([]any{*s.Const}), nil
	}
	return g
}

func spellings(values []any) map[string]bool {
	set := make(map[string]bool, len(values))
	for _, v := range values {
		set[spell(v)] = true
	}
	return set
}

// check is the guard's answer about one value. The cost of what lies in it
// is counted where it is looked at, beforehand.
func (g *guard) check(value any, unique bool) error {
	g.meter.spend(1 + width(value))
	switch {
	case g.never:
		return g.meter.fail("is not allowed here")
	case g.types != nil && !hasType(value, g.types):
		return g.meter.fail("want " + strings.Join(g.types, " or "))
	}
	if g.enum != nil || g.constant != nil || unique {
		g.meter.spend(extent(value))
	}
	switch {
	case g.constant != nil && !g.constant[spell(value)]:
		return g.meter.fail("is not the one value that the schema allows")
	case g.enum != nil && !g.enum[spell(value)]:
		return g.meter.fail("is not one of the values that the schema allows")
	}
	return nil
}

// width is how many values lie directly in one, and how long a text is.
func width(value any) int {
	switch v := value.(type) {
	case map[string]any:
		return len(v)
	case []any:
		return len(v)
	case string:
		return len(v) / bytesForStep
	default:
		return 0
	}
}

// comparisons is how often the library looks at each item of a short list to
// find equal ones.
const comparisons = 20

// extent is what comparing a value as a whole costs.
func extent(value any) int {
	n := 1 + width(value)
	switch v := value.(type) {
	case map[string]any:
		for _, field := range v {
			n += extent(field)
		}
	case []any:
		for _, item := range v {
			n += comparisons * extent(item)
		}
	}
	return n
}

func hasType(value any, types []string) bool {
	switch v := value.(type) {
	case nil:
		return slices.Contains(types, "null")
	case bool:
		return slices.Contains(types, "boolean")
	case string:
		return slices.Contains(types, "string")
	case []any:
		return slices.Contains(types, "array")
	case map[string]any:
		return slices.Contains(types, "object")
	case json.Number:
		return slices.Contains(types, "number") || slices.Contains(types, "integer") && isInteger(v)
	default:
		return false
	}
}

func isInteger(n json.Number) bool {
	exact, ok := new(big.Rat).SetString(n.String())
	return ok && exact.IsInt()
}

// spell writes a value so that two that are equal, as JSON Schema has it, are
// one text: the order of fields and the way in which a number is written do not
// matter.
func spell(value any) string {
	var text strings.Builder
	spellInto(&text, value)
	return text.String()
}

func spellInto(text *strings.Builder, value any) {
	switch v := value.(type) {
	case nil:
		text.WriteString("null")
	case bool:
		text.WriteString(strconv.FormatBool(v))
	case string:
		text.WriteString(strconv.Quote(v))
	case json.Number:
		if exact, ok := new(big.Rat).SetString(v.String()); ok {
			text.WriteString(exact.RatString())
		}
	case []any:
		text.WriteByte('[')
		for _, item := range v {
			spellInto(text, item)
			text.WriteByte(',')
		}
		text.WriteByte(']')
	case map[string]any:
		text.WriteByte('{')
		for _, name := range slices.Sorted(maps.Keys(v)) {
			text.WriteString(strconv.Quote(name))
			text.WriteByte(':')
			spellInto(text, v[name])
			text.WriteByte(',')
		}
		text.WriteByte('}')
	}
}
