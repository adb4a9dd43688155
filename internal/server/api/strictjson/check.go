package strictjson

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
)

const (
	// maxEntries bounds one object or array of ours; the largest honest one
	// has a few dozen.
	maxEntries = 1000
	// maxDepth bounds how deep a document of ours may nest.
	maxDepth = 32
	// maxFaults is how many faults of one document are told.
	maxFaults = 20
)

// Fault is one thing that is wrong with a document.
type Fault struct {
	// Path is where, e.g. "event_types[2]"; empty for the document itself.
	Path string
	// Detail is a sentence for people. It never repeats a value.
	Detail string
}

// Faults is everything that is wrong with a document that is JSON.
type Faults []Fault

// Error tells the first one.
func (f Faults) Error() string {
	if len(f) == 0 {
		return "no fault"
	}
	return f[0].Path + ": " + f[0].Detail
}

// Check tells what in a document does not fit the shape. A document that is
// not JSON is *SyntaxError, one that does not fit is Faults.
func (s *Shape) Check(document []byte) error {
	c := checker{}
	if err := c.value(s, document, "", 0); err != nil {
		return err
	}
	if len(c.faults) > 0 {
		return c.faults
	}
	return nil
}

type checker struct{ faults Faults }

func (c *checker) fault(path, format string, args ...any) {
	if len(c.faults) < maxFaults {
		c.faults = append(c.faults, Fault{path, fmt.Sprintf(format, args...)})
	}
}

// value checks one value. Only a broken syntax is an error, and only the
// document itself can have one: its parts are whole.
func (c *checker) value(s *Shape, value []byte, path string, depth int) error {
	if depth > maxDepth {
		c.fault(path, "is nested more than %d levels deep", maxDepth)
		return nil
	}
	switch s.kind {
	case kindNamed, kindFree:
		return c.object(s, value, path, depth)
	case kindList:
		return c.list(s, value, path, depth)
	case kindAny:
		return c.any(s, value, path, depth)
	default:
		c.single(s.single, value, path)
		return nil
	}
}

func (c *checker) object(s *Shape, value []byte, path string, depth int) error {
	members, err := Members(value, maxEntries)
	if err != nil {
		return c.structure(err, path)
	}
	seen := make(map[string]bool, len(members))
	for _, m := range members {
		name, err := Text(m.Name)
		if err != nil {
			c.fault(path, "a field name %s", err)
			continue
		}
		inside := join(path, name)
		if seen[name] {
			c.fault(inside, "comes more than once")
			continue
		}
		seen[name] = true
		c.member(s, name, m.Value, inside, depth)
	}
	return nil
}

func (c *checker) member(s *Shape, name string, value []byte, path string, depth int) {
	of := s
	switch s.kind {
	case kindNamed:
		if of = s.fields[name]; of == nil {
			c.fault(path, "unknown field; known here: %s", s.names())
			return
		}
		if IsNull(value) { // the same as not given, unless the type says otherwise
			return
		}
	case kindFree:
		of = s.entry
	default: // any object: what is inside is like it
	}
	c.entry(of, value, path, depth)
}

func (c *checker) list(s *Shape, value []byte, path string, depth int) error {
	elements, err := Elements(value, maxEntries)
	if err != nil {
		return c.structure(err, path)
	}
	of := s
	if s.kind == kindList {
		of = s.entry
	}
	for i, element := range elements {
		c.entry(of, element, path+"["+strconv.Itoa(i)+"]", depth)
	}
	return nil
}

// entry checks a value inside a container.
func (c *checker) entry(s *Shape, value []byte, path string, depth int) {
	if s.kind != kindAny && IsNull(value) {
		c.fault(path, "must not be null")
		return
	}
	// The document was scanned to its end, so its parts are JSON.
	_ = c.value(s, value, path, depth+1)
}

func (c *checker) any(s *Shape, value []byte, path string, depth int) error {
	scan := scanner{text: value}
	switch scan.next() {
	case '{':
		return c.object(s, value, path, depth)
	case '[':
		return c.list(s, value, path, depth)
	}
	if depth == 0 {
		return scan.finish(scan.value(), nil)
	}
	c.scalar(value, path)
	return nil
}

// scalar checks the text of a string that may be any value.
func (c *checker) scalar(value []byte, path string) {
	if _, err := Text(value); err != nil && !errors.Is(err, ErrNotText) {
		c.fault(path, "%s", err)
	}
}

// single checks a value that has to be of one kind.
func (c *checker) single(want single, value []byte, path string) {
	scan := scanner{text: value}
	if first := scan.next(); first == '{' || first == '[' {
		c.fault(path, "want a single value, not an object or array")
		return
	}
	if detail := want.check(value); detail != "" {
		c.fault(path, "%s", detail)
	}
}

// structure tells apart what ends the check and what is one fault of it.
func (c *checker) structure(err error, path string) error {
	if _, ok := errors.AsType[*SyntaxError](err); ok {
		return err
	}
	c.fault(path, "%s", err)
	return nil
}

// plainName is what a field name may look like to be repeated in an answer; a
// caller who mixed up name and value would see the value.
var plainName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]{0,39}$`)

// SafeName returns a field name that can be repeated in an answer, or "?".
func SafeName(name string) string {
	if plainName.MatchString(name) {
		return name
	}
	return "?"
}

func join(path, name string) string {
	name = SafeName(name)
	if path == "" {
		return name
	}
	return path + "." + name
}
