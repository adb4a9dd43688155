package search

import (
	"encoding/json"
	"strings"
)

// value is what is looked for: a text, a number, or one of true, false and
// null.
type value struct {
	kind valueKind
	// text is that of a string, or the word.
	text   string
	number decimal
}

type valueKind int

const (
	isString valueKind = iota
	isNumber
	isWord
)

// words are the values that are no texts although they are letters.
var words = []string{"true", "false", "null"}

// holdsText compares the value of a header, which is a text whatever it looks
// like.
func (v value) holdsText(op operator, text string) bool {
	if op == opContains {
		return strings.Contains(text, v.text)
	}
	if v.kind == isNumber && op.orders() {
		n, ok := parseDecimal(text)
		return ok && op.accepts(n.compare(v.number))
	}
	return op == opExists || op.accepts(strings.Compare(text, v.text))
}

// holdsJSON compares a value of a body, as it is written there. What is of
// another kind is unequal, and neither more nor less.
func (v value) holdsJSON(op operator, raw []byte) bool {
	if op == opExists {
		return true
	}
	if op == opContains {
		text, ok := unquote(raw)
		return ok && strings.Contains(text, v.text)
	}
	order, same := v.compareJSON(raw)
	if !same {
		return op == opNotEqual
	}
	return op.accepts(order)
}

// compareJSON tells how a value of a body stands to this one; same is false
// where they are not of one kind.
func (v value) compareJSON(raw []byte) (order int, same bool) {
	switch v.kind {
	case isString:
		text, ok := unquote(raw)
		return strings.Compare(text, v.text), ok
	case isNumber:
		n, ok := parseDecimal(string(raw))
		return n.compare(v.number), ok
	case isWord:
		return 0, string(raw) == v.text
	}
	return 0, false
}

// orders tells that an operator asks for more or less.
func (o operator) orders() bool {
	switch o {
	case opLess, opLessEqual, opGreater, opGreaterEqual:
		return true
	case opExists, opEqual, opNotEqual, opContains:
	}
	return false
}

// accepts tells whether an operator is content with an order: of what was found
// to what is looked for.
func (o operator) accepts(order int) bool {
	switch o {
	case opEqual:
		return order == 0
	case opNotEqual:
		return order != 0
	case opLess:
		return order < 0
	case opLessEqual:
		return order <= 0
	case opGreater:
		return order > 0
	case opGreaterEqual:
		return order >= 0
	case opExists, opContains:
	}
	return false
}

// needle is what a body has in it, without escapes, that holds this value; nil
// for what can be written in several ways.
func (v value) needle(op operator) []byte {
	if v.kind != isString || op != opEqual && op != opContains || v.text == "" {
		return nil
	}
	return plainly([]byte(v.text))
}

// plainly returns a text that can be written in one way only, but for escapes;
// nil for any other.
func plainly(text []byte) []byte {
	written, err := json.Marshal(string(text))
	if err != nil || string(written) != `"`+string(text)+`"` {
		return nil
	}
	return text
}
