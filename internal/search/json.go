package search

import (
	"bytes"
	"encoding/json"
)

// reader reads a body, and finds out once whether it is JSON.
type reader struct {
	body []byte
	// escaped tells that something in it may be written with an escape.
	escaped bool
	// checked tells that valid is known: whether it is JSON.
	checked, valid bool
}

func newReader(body []byte) reader {
	return reader{body: body, escaped: bytes.IndexByte(body, '\\') >= 0}
}

// mayHold tells that a body can have these texts in it: where nothing is
// written with an escape, they stand there as they are.
func (r *reader) mayHold(needles [][]byte) bool {
	if r.escaped {
		return true
	}
	for _, needle := range needles {
		if !bytes.Contains(r.body, needle) {
			return false
		}
	}
	return true
}

// any tells whether one of the values at a place is wanted. A body that is no
// JSON has none. Of a key that stands there twice, both are looked at.
func (r *reader) any(path []step, wanted func([]byte) bool) bool {
	if !r.checked {
		r.checked, r.valid = true, json.Valid(r.body)
	}
	return r.valid && find(bytes.TrimSpace(r.body), path, wanted)
}

// find goes into a value, which is valid JSON without white space around it.
func find(v []byte, path []step, wanted func([]byte) bool) bool {
	if len(path) == 0 {
		return wanted(v)
	}
	next, rest := path[0], path[1:]
	switch {
	case v[0] == '{' && next.kind == stepKey:
		return members(v, func(key, value []byte) bool {
			return isKey(key, next.key) && find(value, rest, wanted)
		})
	case v[0] == '[' && next.kind != stepKey:
		return elements(v, func(n int, value []byte) bool {
			return (next.kind == stepEach || n == next.index) && find(value, rest, wanted)
		})
	}
	return false
}

// members goes through an object until visit says true, and tells whether it
// did.
func members(v []byte, visit func(key, value []byte) bool) bool {
	for v = trim(v[1:]); v[0] == '"'; {
		end := valueEnd(v)
		key := v[:end]
		v = trim(trim(v[end:])[1:]) // the colon
		end = valueEnd(v)
		if visit(key, v[:end]) {
			return true
		}
		if v = trim(v[end:]); v[0] == ',' {
			v = trim(v[1:])
		}
	}
	return false
}

// elements goes through an array until visit says true, and tells whether it
// did.
func elements(v []byte, visit func(n int, value []byte) bool) bool {
	v = trim(v[1:])
	for n := 0; v[0] != ']'; n++ {
		end := valueEnd(v)
		if visit(n, v[:end]) {
			return true
		}
		if v = trim(v[end:]); v[0] == ',' {
			v = trim(v[1:])
		}
	}
	return false
}

// valueEnd is where the value that v begins with ends.
func valueEnd(v []byte) int {
	switch v[0] {
	case '"':
		return stringEnd(v)
	case '{', '[':
		return nestedEnd(v)
	}
	if end := bytes.IndexAny(v, ",]} \t\r\n"); end >= 0 {
		return end
	}
	return len(v)
}

func stringEnd(v []byte) int {
	for i := 1; ; i++ {
		switch v[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
}

// nestedEnd counts brackets, those in strings aside.
func nestedEnd(v []byte) int {
	depth := 0
	for i := 0; ; i++ {
		switch v[i] {
		case '"':
			i += stringEnd(v[i:]) - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
}

// isKey tells whether a key, as it is written, is the one looked for.
func isKey(raw []byte, key string) bool {
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1:len(raw)-1]) == key
	}
	text, ok := unquote(raw)
	return ok && text == key
}

// unquote reads a string as it is written.
func unquote(raw []byte) (text string, ok bool) {
	if raw[0] != '"' {
		return "", false
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1]), true
	}
	return text, json.Unmarshal(raw, &text) == nil
}

func trim(v []byte) []byte { return bytes.TrimLeft(v, " \t\r\n") }
