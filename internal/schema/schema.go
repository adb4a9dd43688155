// Package schema says whether data satisfies a JSON Schema that a stranger
// wrote, about data that a stranger sent: nothing is fetched or read to do so,
// and what it may cost is counted and bounded.
package schema

import (
	"errors"
	"fmt"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

const (
	// MaxBytes is how long a schema may be.
	MaxBytes = 64 << 10
	// MaxFaults is how many faults of some data are told.
	MaxFaults = 10
	// maxIdle is how many compiled forms of a schema wait for their next use.
	maxIdle = 4
)

// Schema is a schema that can be asked, by many at once.
type Schema struct {
	text []byte
	// idle are compiled forms that nobody uses: each counts what one caller
	// costs, and is lent to one at a time.
	idle chan *compiled
}

// compiled is a schema as the library has it, and what counts its work.
type compiled struct {
	root  *jsonschema.Schema
	meter *meter
}

// Error says what is wrong with a schema, for who wrote it.
type Error struct{ Reason string }

// Error is the reason.
func (e *Error) Error() string { return e.Reason }

func refuse(format string, args ...any) error { return &Error{Reason: fmt.Sprintf(format, args...)} }

// New reads a schema. Without $schema it is one of the draft 2020-12. A schema
// that cannot be taken is an *Error.
func New(text []byte) (*Schema, error) {
	c, err := compile(text)
	if err != nil {
		return nil, err
	}
	s := &Schema{text: text, idle: make(chan *compiled, maxIdle)}
	s.idle <- c
	return s, nil
}

// Fault is where data breaks a schema.
type Fault struct {
	// Pointer is a JSON Pointer into the data; empty is all of it.
	Pointer string
	// Reason is what is asked there. It never repeats what was sent.
	Reason string
}

// Check tells what is wrong with data, which is JSON; nothing if it satisfies
// the schema. It tells at most MaxFaults, in the order of where they are.
func (s *Schema) Check(data []byte) []Fault {
	value, err := decode(data)
	if unreadable, ok := errors.AsType[*unreadableError](err); ok {
		return []Fault{{Pointer: unreadable.pointer, Reason: unreadable.reason}}
	}
	c := s.take()
	defer s.giveBack(c)
	return c.check(value, len(data))
}

// take lends a compiled form; one more is made where all are in use.
func (s *Schema) take() *compiled {
	select {
	case c := <-s.idle:
		return c
	default:
	}
	c, err := compile(s.text)
	if err != nil { // it was compiled before, from the same bytes
		panic(fmt.Sprintf("schema: %v", err))
	}
	return c
}

func (s *Schema) giveBack(c *compiled) {
	select {
	case s.idle <- c:
	default:
	}
}

// check asks the library. What costs more than data of this size may is ended.
func (c *compiled) check(value any, size int) (faults []Fault) {
	c.meter.begin(size)
	defer func() {
		switch cause := recover(); cause {
		case nil:
		case errTooCostly:
			faults = []Fault{{Reason: "takes too long to be checked against the schema of its type"}}
		case errTooManyFaults:
			faults = []Fault{{Reason: "breaks the schema of its type in too many places"}}
		default:
			panic(cause)
		}
	}()
	err := c.root.Validate(value)
	if invalid, ok := errors.AsType[*jsonschema.ValidationError](err); ok {
		return faultsOf(invalid)
	}
	return nil
}
