package schema

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

const (
	// maxNesting is how deep a schema may be.
	maxNesting = 64
	// maxValues is how many JSON values a schema may hold.
	maxValues = 10_000
	// maxPattern is how long one pattern may be, in bytes, and maxProgram how
	// many instructions all of them may have: a few bytes can stand for millions.
	maxPattern = 1024
	maxProgram = 20_000
	// address is where a schema stands for the library. Nothing is ever there.
	address = "https://schema.invalid/type"
)

// drafts are what $schema may say.
var drafts = []string{
	"https://json-schema.org/draft/2020-12/schema", "https://json-schema.org/draft/2019-09/schema",
	"http://json-schema.org/draft-07/schema", "http://json-schema.org/draft-06/schema", "http://json-schema.org/draft-04/schema",
}

// compile turns a schema into what the library asks.
func compile(text []byte) (*compiled, error) {
	if len(text) > MaxBytes {
		return nil, refuse("is longer than %d bytes", MaxBytes)
	}
	document, err := decode(text)
	if unreadable, ok := errors.AsType[*unreadableError](err); ok {
		return nil, refuse("%s", located(unreadable.pointer, unreadable.reason))
	}
	if err := inspect(document); err != nil {
		return nil, err
	}
	m := &meter{}
	m.begin(0)
	p := &patterns{meter: m, left: maxProgram}
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(nowhere{})
	compiler.UseRegexpEngine(p.compile)
	if err := compiler.AddResource(address, document); err != nil {
		return nil, reasonOf(err, nil)
	}
	root, err := compiler.Compile(address)
	if err != nil {
		return nil, reasonOf(err, p.refused)
	}
	c := &compiled{root: root, meter: m}
	c.guardAll(root, map[*jsonschema.Schema]bool{})
	return c, nil
}

// nowhere is where the library finds other documents.
type nowhere struct{}

var errElsewhere = errors.New("another document")

// Load finds nothing.
func (nowhere) Load(string) (any, error) { return nil, errElsewhere }

const noOthers = "refers to another document: nothing is fetched or read, so put what it refers to under $defs and refer to it with #/$defs/…"

// reasonOf says in our words why the library takes no schema. Its own would
// show addresses and files.
func reasonOf(err, pattern error) error {
	if pattern != nil {
		return pattern
	}
	if _, ok := errors.AsType[*jsonschema.LoadURLError](err); ok {
		return refuse("%s", noOthers)
	}
	if invalid, ok := errors.AsType[*jsonschema.SchemaValidationError](err); ok {
		if broken, ok := errors.AsType[*jsonschema.ValidationError](invalid.Err); ok {
			if faults := faultsOf(broken); len(faults) > 0 {
				return refuse("is not a JSON Schema: %s", located(faults[0].Pointer, faults[0].Reason))
			}
		}
		return refuse("is not a JSON Schema")
	}
	return refuse("cannot be used: a reference, an anchor or an $id in it leads nowhere or is given twice")
}

func located(pointer, reason string) string {
	if pointer == "" {
		return reason
	}
	return "at " + pointer + ", " + reason
}

// inspect refuses what the library would take to heart: a document that is
// large when it is compiled, and references to what it carries with it.
func inspect(document any) error {
	i := inspection{left: maxValues}
	switch document.(type) {
	case bool, map[string]any:
		return i.value(document, 1)
	default:
		return refuse("want a JSON Schema: an object, true or false")
	}
}

type inspection struct{ left int }

func (i *inspection) value(value any, depth int) error {
	if i.left--; i.left < 0 {
		return refuse("holds more than %d values", maxValues)
	}
	if depth > maxNesting {
		return refuse("is nested more than %d levels deep", maxNesting)
	}
	switch v := value.(type) {
	case map[string]any:
		for name, field := range v {
			if err := inspectField(name, field); err != nil {
				return err
			}
			if err := i.value(field, depth+1); err != nil {
				return err
			}
		}
	case []any:
		for _, item := range v {
			if err := i.value(item, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

func inspectField(name string, value any) error {
	text, ok := value.(string)
	if !ok {
		return nil
	}
	switch name {
	case "$schema":
		for _, draft := range drafts {
			if strings.TrimSuffix(text, "#") == draft {
				return nil
			}
		}
		return refuse("has a $schema that is not known here: leave it out for draft 2020-12, or name one of %s", strings.Join(drafts, ", "))
	case "$ref", "$dynamicRef", "$recursiveRef":
		// The drafts themselves come with the library.
		if document, _, _ := strings.Cut(text, "#"); strings.Contains(document, "//json-schema.org/") {
			return refuse("%s", noOthers)
		}
	}
	return nil
}

// patterns compiles regular expressions, whose programs are bounded together.
type patterns struct {
	meter *meter
	left  int
	// refused is why one was not taken.
	refused error
}

func (p *patterns) compile(text string) (jsonschema.Regexp, error) {
	compiled, err := p.measured(text)
	if err != nil && p.refused == nil {
		p.refused = err
	}
	return compiled, err
}

func (p *patterns) measured(text string) (*pattern, error) {
	if len(text) > maxPattern {
		return nil, refuse("has a pattern of more than %d bytes", maxPattern)
	}
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, refuse("has a pattern that cannot be used: want RE2, which knows neither look-around nor back-references")
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return nil, refuse("has a pattern that cannot be used")
	}
	if p.left -= len(program.Inst); p.left < 0 {
		return nil, refuse("has patterns that are too large together: repeat less in them")
	}
	compiled, err := regexp.Compile(text)
	if err != nil {
		return nil, refuse("has a pattern that cannot be used")
	}
	return &pattern{Regexp: compiled, meter: p.meter, size: len(program.Inst)}, nil
}

// pattern is a regular expression that counts what it costs: the text's length
// times the program's.
type pattern struct {
	*regexp.Regexp

	meter *meter
	size  int
}

// MatchString tells whether the pattern matches somewhere in a text.
func (p *pattern) MatchString(text string) bool {
	p.meter.spend(1 + len(text)*p.size/bytesForStep)
	return p.Regexp.MatchString(text)
}
