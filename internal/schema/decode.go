package schema

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

const (
	// maxDepth is how deep lists and objects may lie in each other, in data that
	// is checked.
	maxDepth = 256
	// maxDigits and maxExponent bound a number: its value is computed exactly,
	// and a few bytes can name one that fills the memory.
	maxDigits   = 400
	maxExponent = 400
)

// unreadableError says why a document cannot be checked.
type unreadableError struct{ pointer, reason string }

// Error is the reason.
func (e *unreadableError) Error() string { return e.reason }

// decode reads one JSON value. What readers disagree about is refused: a name
// that comes twice in an object could be checked as the one and read as the
// other.
func decode(text []byte) (any, error) {
	r := reader{json.NewDecoder(bytes.NewReader(text)), make([]string, 0, 16)}
	r.decoder.UseNumber()
	value, err := r.value()
	if err == nil && r.decoder.More() {
		err = r.unreadable("is not one JSON value")
	}
	return value, err
}

type reader struct {
	decoder *json.Decoder
	// path leads to where it reads.
	path []string
}

func (r *reader) unreadable(reason string) error {
	return &unreadableError{pointer: pointer(r.path), reason: reason}
}

func (r *reader) value() (any, error) {
	token, err := r.decoder.Token()
	if err != nil {
		return nil, r.unreadable("is not JSON")
	}
	switch t := token.(type) {
	case json.Delim:
		if len(r.path) >= maxDepth {
			return nil, &unreadableError{reason: "is nested more than " + strconv.Itoa(maxDepth) + " levels deep, which is too deep to be checked"}
		}
		if t == '{' {
			return r.object()
		}
		return r.list()
	case json.Number:
		if !isModest(t.String()) {
			return nil, r.unreadable("is a number that is too long to be checked")
		}
		return t, nil
	default:
		return token, nil
	}
}

// at reads the value at the next step of the path.
func (r *reader) at(step string) (any, error) {
	r.path = append(r.path, step)
	value, err := r.value()
	r.path = r.path[:len(r.path)-1]
	return value, err
}

func (r *reader) object() (any, error) {
	object := map[string]any{}
	for r.decoder.More() {
		token, err := r.decoder.Token()
		name, ok := token.(string)
		if err != nil || !ok {
			return nil, r.unreadable("is not JSON")
		}
		if _, twice := object[name]; twice {
			return nil, r.unreadable("has a field twice")
		}
		if object[name], err = r.at(name); err != nil {
			return nil, err
		}
	}
	return object, r.end()
}

func (r *reader) list() (any, error) {
	list := []any{}
	for r.decoder.More() {
		value, err := r.at(strconv.Itoa(len(list)))
		if err != nil {
			return nil, err
		}
		list = append(list, value)
	}
	return list, r.end()
}

// end reads the bracket that closes a list or an object.
func (r *reader) end() error {
	if _, err := r.decoder.Token(); err != nil {
		return r.unreadable("is not JSON")
	}
	return nil
}

// isModest tells that a number's exact value takes little memory.
func isModest(number string) bool {
	digits, exponent, _ := strings.Cut(strings.ToLower(number), "e")
	if len(digits) > maxDigits {
		return false
	}
	if exponent == "" {
		return true
	}
	n, err := strconv.Atoi(exponent)
	return err == nil && n >= -maxExponent && n <= maxExponent
}

// maxPointer is how long a JSON Pointer is told. One that is longer ends at
// what is around it.
const maxPointer = 256

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

// pointer writes a path as a JSON Pointer.
func pointer(path []string) string {
	var text strings.Builder
	for _, step := range path {
		escaped := pointerEscapes.Replace(step)
		if text.Len()+1+len(escaped) > maxPointer {
			break
		}
		text.WriteByte('/')
		text.WriteString(escaped)
	}
	return text.String()
}
