package eventtype

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/schema"
)

// Input is what a caller declares. A field that is nil was not given.
type Input struct {
	// Name is for Create alone.
	Name        *string
	Description *string
	// Schema is a JSON Schema; null and nothing take it away.
	Schema *json.RawMessage
	// Examples are data of such events.
	Examples   *[]json.RawMessage
	SingleFire *bool
	OnDoubt    *gateway.OnDoubt
}

const (
	// maxDescription is in characters.
	maxDescription = 2000
	// maxExamples and maxExampleBytes bound the examples, all of them together.
	maxExamples     = 20
	maxExampleBytes = 64 << 10
)

// fillNew checks the input of a new type and fills the type with it. All that
// is wrong is told at once: gateway.InvalidErrors, joined.
func (in Input) fillNew(t *gateway.EventType) error {
	if in.Name == nil {
		return errors.Join(gateway.Invalid("name", "is missing"), in.apply(t))
	}
	t.Name = *in.Name
	return errors.Join(gateway.CheckDeclaredType(t.Name), in.apply(t))
}

// applyTo writes what is given to a type that is there.
func (in Input) applyTo(t *gateway.EventType) error {
	var renamed error
	if in.Name != nil && *in.Name != t.Name {
		renamed = gateway.Invalid("name", "cannot be changed: declare another type, and delete this one")
	}
	return errors.Join(renamed, in.apply(t))
}

func (in Input) apply(t *gateway.EventType) error {
	if in.SingleFire != nil {
		t.SingleFire = *in.SingleFire
	}
	return errors.Join(in.applyDescription(t), in.applyOnDoubt(t), in.applySchema(t))
}

func (in Input) applyDescription(t *gateway.EventType) error {
	if in.Description == nil {
		return nil
	}
	text := strings.TrimSpace(*in.Description)
	if utf8.RuneCountInString(text) > maxDescription || !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		return gateway.Invalid("description", "want at most %d characters", maxDescription)
	}
	t.Description = text
	return nil
}

func (in Input) applyOnDoubt(t *gateway.EventType) error {
	if in.OnDoubt == nil {
		return nil
	}
	switch *in.OnDoubt {
	case gateway.OnDoubtResend, gateway.OnDoubtHold:
		t.OnDoubt = *in.OnDoubt
		return nil
	default:
		return gateway.Invalid("on_doubt", "want resend or hold")
	}
}

// applySchema takes schema and examples, which have to fit: also examples that
// are there already and a schema that is new.
func (in Input) applySchema(t *gateway.EventType) error {
	if in.Schema != nil {
		if t.Schema = bytes.TrimSpace(*in.Schema); len(t.Schema) == 0 || string(t.Schema) == "null" {
			t.Schema = nil
		}
	}
	if in.Examples != nil {
		if err := checkExamples(*in.Examples); err != nil {
			return err
		}
		t.Examples = *in.Examples
	}
	if t.Schema == nil || in.Schema == nil && in.Examples == nil {
		return nil
	}
	asked, err := schema.New(t.Schema)
	if err != nil {
		return gateway.Invalid("schema", "%s", err)
	}
	return satisfy(asked, t.Examples)
}

func checkExamples(examples []json.RawMessage) error {
	if len(examples) > maxExamples {
		return gateway.Invalid("examples", "want at most %d", maxExamples)
	}
	size := 0
	for i, example := range examples {
		if !json.Valid(example) {
			return gateway.Invalid(place(i), "is not JSON")
		}
		size += len(example)
	}
	if size > maxExampleBytes {
		return gateway.Invalid("examples", "want at most %d bytes in all", maxExampleBytes)
	}
	return nil
}

// satisfy asks that each example is what a publisher may send.
func satisfy(asked *schema.Schema, examples []json.RawMessage) error {
	var all []error
	for i, example := range examples {
		for _, fault := range asked.Check(example) {
			all = append(all, gateway.Invalid(place(i)+fault.Pointer, "%s", fault.Reason))
		}
	}
	return errors.Join(all...)
}

func place(i int) string { return fmt.Sprintf("examples[%d]", i) }

// given names the fields that are to be changed, for the audit log.
func (in Input) given(t gateway.EventType) []string {
	var names []string
	if in.Description != nil {
		names = append(names, "description")
	}
	if in.Schema != nil {
		names = append(names, "schema")
	}
	if in.Examples != nil {
		names = append(names, "examples")
	}
	if in.SingleFire != nil || in.OnDoubt != nil {
		names = append(names, fires(t))
	}
	return names
}
