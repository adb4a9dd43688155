// Package search reads what people type to find events by what came in with
// them, and tells whether an event is one of those: by a text, by a header, or
// by what stands at a place in a JSON body.
//
//	ord_99120
//	$.data.id = 12345678901234567890
//	$.items[*].sku = "A-1" and $.paid = true
//	header.x-request-id ~ "7f3a"
//
// Bodies are bytes and stay so: numbers are compared as they were written, to
// the last digit.
package search

import (
	"bytes"
	"strings"

	"github.com/rowlock/rowlock/internal/gateway"
)

const (
	// MaxText bounds what is typed, in bytes.
	MaxText = 1024
	// maxTerms bounds what is asked for at once, maxSteps the depth of a place.
	maxTerms, maxSteps = 8, 32
)

// Query is what somebody looks for. The zero value looks for nothing.
type Query struct {
	// text is looked for wherever it stands; empty where terms are given.
	text  string
	terms []term
}

// term is one thing that has to hold.
type term struct {
	// header is a name in lower case; empty where path leads into the body.
	header string
	path   []step
	op     operator
	value  value
	// needles stand in every body that matches and has no escapes in it.
	needles [][]byte
}

// step leads from a value into one that it holds.
type step struct {
	key   string
	index int
	kind  stepKind
}

type stepKind int

const (
	stepKey stepKind = iota
	stepIndex
	stepEach
)

// operator compares what is found with what is looked for.
type operator string

const (
	opExists       operator = ""
	opEqual        operator = "="
	opNotEqual     operator = "!="
	opContains     operator = "~"
	opLess         operator = "<"
	opLessEqual    operator = "<="
	opGreater      operator = ">"
	opGreaterEqual operator = ">="
)

// IsZero tells that nothing is looked for.
func (q Query) IsZero() bool { return q.text == "" && len(q.terms) == 0 }

// Text is what is looked for wherever it stands: it may be the name of
// something. It is empty where places are named.
func (q Query) Text() string { return q.text }

// Matches tells whether an event that came in with headers, as
// gateway.EncodeHeaders wrote them, and a body is one of those looked for. All
// terms have to hold.
func (q Query) Matches(headers, body []byte) bool {
	if q.text != "" {
		return bytes.Contains(body, []byte(q.text)) || headersHold(headers, q.text)
	}
	r := newReader(body)
	for _, t := range q.terms {
		if !t.holds(headers, &r) {
			return false
		}
	}
	return true
}

// headersHold tells whether a text stands in the value of a header.
func headersHold(headers []byte, text string) bool {
	if !bytes.Contains(headers, []byte(text)) {
		return false
	}
	for line := range bytes.SplitSeq(headers, []byte("\r\n")) {
		if _, value, ok := bytes.Cut(line, []byte(": ")); ok && bytes.Contains(value, []byte(text)) {
			return true
		}
	}
	return false
}

func (t term) holds(headers []byte, r *reader) bool {
	if t.header == "" {
		return r.mayHold(t.needles) && r.any(t.path, t.compares)
	}
	for name, values := range gateway.DecodeHeaders(headers) {
		if !strings.EqualFold(name, t.header) {
			continue
		}
		for _, text := range values {
			if t.value.holdsText(t.op, text) {
				return true
			}
		}
	}
	return false
}

// compares tells whether a value of the body is what is looked for.
func (t term) compares(raw []byte) bool { return t.value.holdsJSON(t.op, raw) }
