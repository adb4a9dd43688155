package page

import (
	"strings"
	"unicode/utf8"
)

// lowerFirst begins a text in lower case, to stand within a sentence.
func lowerFirst(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	return strings.ToLower(string(first)) + text[size:]
}
