package signature

import (
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// topLevel returns the members of a body that is one JSON object, by their
// exact names, the last of a repeated one. Any other body has none. A map and
// not a struct: struct fields would match names of another case too.
func topLevel(body []byte) map[string]json.RawMessage {
	if !utf8.Valid(body) {
		return nil // the decoder would replace the bytes and not say so
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(body, &members) != nil {
		return nil
	}
	return members
}

// keyOf returns a JSON string's text or an integer's digits, else "".
func keyOf(value json.RawMessage) string {
	if isDigits(strings.TrimPrefix(string(value), "-")) {
		return string(value)
	}
	return textOf(value)
}

// textOf returns a JSON string's text, else "".
func textOf(value json.RawMessage) string {
	var text string
	if len(value) == 0 || value[0] != '"' || json.Unmarshal(value, &text) != nil {
		return ""
	}
	if strings.ContainsRune(text, utf8.RuneError) {
		// Half of a surrogate pair was replaced. Two ids that differ there
		// must not become one: the source text tells them apart.
		return string(value[1 : len(value)-1])
	}
	return text
}
