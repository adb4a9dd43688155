package search

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// SyntaxError tells what is wrong with what was typed, and where.
type SyntaxError struct {
	// Column is the first character that cannot stand there, from 1.
	Column int
	// Text says what is wanted instead.
	Text string
}

// Error is the whole of it.
func (e *SyntaxError) Error() string { return fmt.Sprintf("character %d: %s", e.Column, e.Text) }

// Parse reads what was typed. What begins with $ or header. names places; all
// else, and what stands in quotes, is a text. The error is a *SyntaxError.
func Parse(typed string) (Query, error) {
	trimmed := strings.TrimRightFunc(typed, unicode.IsSpace)
	p := &parser{typed: trimmed, rest: strings.TrimSpace(trimmed)}
	if len(typed) > MaxText {
		return Query{}, &SyntaxError{1, fmt.Sprintf("want at most %d characters", MaxText)}
	}
	if !utf8.ValidString(typed) || strings.ContainsRune(typed, 0) {
		return Query{}, &SyntaxError{1, "want text"}
	}
	if !p.atPlace() {
		return p.text()
	}
	return p.all()
}

// parser reads what was typed from left to right.
type parser struct {
	typed string
	// rest is what is still to be read, without white space around it.
	rest string
}

// wrong is an error at the place that the parser has got to.
func (p *parser) wrong(format string, args ...any) error {
	read := len(p.typed) - len(p.rest)
	return &SyntaxError{utf8.RuneCountInString(p.typed[:read]) + 1, fmt.Sprintf(format, args...)}
}

// skip goes over so many bytes, and the white space behind them.
func (p *parser) skip(n int) { p.rest = strings.TrimSpace(p.rest[n:]) }

// headerPrefixes begin the name of a header.
var headerPrefixes = []string{"header.", "headers."}

func (p *parser) atHeader() (prefix string, ok bool) {
	for _, prefix := range headerPrefixes {
		if len(p.rest) > len(prefix) && strings.EqualFold(p.rest[:len(prefix)], prefix) {
			return prefix, true
		}
	}
	return "", false
}

func (p *parser) atPlace() bool {
	_, header := p.atHeader()
	return header || strings.HasPrefix(p.rest, "$")
}

// text is a query for all that was typed, or for what stands in quotes.
func (p *parser) text() (Query, error) {
	if len(p.rest) > 1 && (p.rest[0] == '"' || p.rest[0] == '\'') && p.rest[len(p.rest)-1] == p.rest[0] {
		if text, err := p.quoted(); err == nil && p.rest == "" {
			return Query{text: text}, nil
		}
		p.rest = strings.TrimSpace(p.typed)
	}
	return Query{text: p.rest}, nil
}

// all reads terms to the end.
func (p *parser) all() (Query, error) {
	var q Query
	for {
		if len(q.terms) == maxTerms {
			return Query{}, p.wrong("want at most %d conditions", maxTerms)
		}
		t, err := p.term()
		if err != nil {
			return Query{}, err
		}
		q.terms = append(q.terms, t)
		if p.rest == "" {
			return q, nil
		}
		if err := p.and(); err != nil {
			return Query{}, err
		}
	}
}

func (p *parser) and() error {
	if n := p.atAnd(); n > 0 {
		p.skip(n)
		return nil
	}
	return p.wrong(`want "and" and another condition, or the end; a text with spaces stands in quotes`)
}

// atAnd is how long the word between two terms is; zero where there is none.
func (p *parser) atAnd() int {
	for _, word := range []string{"and ", "&&"} {
		if len(p.rest) > len(word) && strings.EqualFold(p.rest[:len(word)], word) {
			return len(word)
		}
	}
	return 0
}

func (p *parser) term() (t term, err error) {
	if prefix, ok := p.atHeader(); ok {
		p.skip(len(prefix))
		t.header, err = p.headerName()
	} else {
		t.path, err = p.path()
	}
	if err != nil {
		return t, err
	}
	if t.op, err = p.operator(); err != nil || t.op == opExists {
		t.needles = t.needlesOf()
		return t, err
	}
	if t.value, err = p.value(); err != nil {
		return t, err
	}
	if t.value.kind == isWord && t.op != opEqual && t.op != opNotEqual && t.header == "" {
		return t, p.wrong("%s is compared with = and != alone", t.value.text)
	}
	t.needles = t.needlesOf()
	return t, nil
}

// needlesOf are the last key of the place, and the value.
func (t term) needlesOf() (needles [][]byte) {
	if t.header != "" {
		return nil
	}
	for _, s := range slices.Backward(t.path) {
		if key := plainly([]byte(s.key)); s.kind == stepKey && key != nil {
			needles = append(needles, []byte(`"`+s.key+`"`))
			break
		}
	}
	if t.op == opExists {
		return needles
	}
	if n := t.value.needle(t.op); n != nil {
		needles = append(needles, n)
	}
	return needles
}

// endsWord tells which characters no name and no bare value has in it.
func endsWord(r rune) bool { return strings.ContainsRune(" \t\r\n=!<>~\"'[]", r) }

func (p *parser) headerName() (string, error) {
	end := strings.IndexFunc(p.rest, endsWord)
	if end < 0 {
		end = len(p.rest)
	}
	if end == 0 {
		return "", p.wrong("want the name of a header, such as header.x-request-id")
	}
	name := strings.ToLower(p.rest[:end])
	p.skip(end)
	return name, nil
}

// path reads a place in the body, from its $ on.
func (p *parser) path() ([]step, error) {
	if !strings.HasPrefix(p.rest, "$") {
		return nil, p.wrong("want a place such as $.data.id, or a header such as header.x-request-id")
	}
	path := []step{}
	for p.rest = p.rest[1:]; p.rest != "" && (p.rest[0] == '.' || p.rest[0] == '['); {
		if len(path) == maxSteps {
			return nil, p.wrong("want at most %d steps", maxSteps)
		}
		s, err := p.step()
		if err != nil {
			return nil, err
		}
		path = append(path, s)
	}
	p.skip(0)
	return path, nil
}

func (p *parser) step() (step, error) {
	if p.rest[0] == '[' {
		return p.bracket()
	}
	p.rest = p.rest[1:]
	end := strings.IndexFunc(p.rest, func(r rune) bool { return r == '.' || endsWord(r) })
	if end < 0 {
		end = len(p.rest)
	}
	if end == 0 {
		return step{}, p.wrong("want a name after the point")
	}
	key := p.rest[:end]
	p.rest = p.rest[end:]
	if key == "*" {
		return step{kind: stepEach}, nil
	}
	return step{key: key}, nil
}

// bracket reads [0], [*] or ["name"].
func (p *parser) bracket() (s step, err error) {
	p.rest = p.rest[1:]
	switch {
	case strings.HasPrefix(p.rest, "*"):
		s.kind, p.rest = stepEach, p.rest[1:]
	case strings.HasPrefix(p.rest, `"`) || strings.HasPrefix(p.rest, "'"):
		if s.key, err = p.quoted(); err != nil {
			return s, err
		}
	default:
		digits := len(p.rest) - len(strings.TrimLeft(p.rest, "0123456789"))
		n, err := strconv.Atoi(p.rest[:digits])
		if err != nil {
			return s, p.wrong(`want a number, * or a name in quotes in the brackets`)
		}
		s.kind, s.index, p.rest = stepIndex, n, p.rest[digits:]
	}
	if !strings.HasPrefix(p.rest, "]") {
		return s, p.wrong("want ] here")
	}
	p.rest = p.rest[1:]
	return s, nil
}

// operators are looked for in this order: the longer one first.
var operators = []operator{opNotEqual, opLessEqual, opGreaterEqual, opEqual, opLess, opGreater, opContains}

// operator reads one, or none at the end of a term.
func (p *parser) operator() (operator, error) {
	for _, op := range operators {
		if rest, ok := strings.CutPrefix(p.rest, string(op)); ok {
			if op == opEqual {
				rest = strings.TrimPrefix(rest, "=") // == is what programmers type
			}
			p.skip(len(p.rest) - len(rest))
			return op, nil
		}
	}
	if p.rest == "" || p.atAnd() > 0 {
		return opExists, nil
	}
	return "", p.wrong("want one of =, !=, <, <=, >, >= and ~ (contains)")
}
