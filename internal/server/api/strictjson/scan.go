// Package strictjson reads JSON documents of a fixed form more strictly than
// encoding/json does: field names are exact, none is unknown or comes twice,
// and texts are valid UTF-8 without NUL. It can also take a document apart
// without decoding it, so that a value inside stays as it was sent, byte for
// byte, whatever numbers or escapes it holds.
package strictjson

import (
	"errors"
	"fmt"
)

// What a document, though it is JSON, can fail to be.
var (
	// ErrNotObject: the value is not an object.
	ErrNotObject = errors.New("want an object")
	// ErrNotArray: the value is not an array.
	ErrNotArray = errors.New("want an array")
	// ErrTooMany: the object or array has more entries than allowed.
	ErrTooMany = errors.New("too many entries")
)

// SyntaxError is returned for a text that is not one JSON value (RFC 8259).
type SyntaxError struct {
	// Offset is the byte at which the text stops being JSON.
	Offset int
}

// Error tells the offset and never repeats the text.
func (e *SyntaxError) Error() string { return fmt.Sprintf("not JSON at byte %d", e.Offset) }

// Member is one member of an object. Both parts are slices of the document.
type Member struct {
	// Name is the name as it stands there, quotes included; see Text.
	Name []byte
	// Value is the value without the white space around it.
	Value []byte
}

// Members splits a document that is one object, in the order in which the
// members stand there. The whole document is checked first: *SyntaxError comes
// before ErrNotObject, and before ErrTooMany, which tells of more than limit
// members.
func Members(document []byte, limit int) ([]Member, error) {
	s := scanner{text: document}
	if s.next() != '{' {
		return nil, s.finish(s.value(), ErrNotObject)
	}
	var members []Member
	err := s.entries('}', func(keep bool) error {
		name, value, err := s.member()
		if keep {
			members = append(members, Member{name, value})
		}
		return err
	}, limit)
	if err = s.finish(err, nil); err != nil {
		return nil, err
	}
	return members, nil
}

// Elements splits a document that is one array. Its errors are those of
// Members, with ErrNotArray.
func Elements(document []byte, limit int) ([][]byte, error) {
	s := scanner{text: document}
	if s.next() != '[' {
		return nil, s.finish(s.value(), ErrNotArray)
	}
	var elements [][]byte
	err := s.entries(']', func(keep bool) error {
		element, err := s.slice()
		if keep {
			elements = append(elements, element)
		}
		return err
	}, limit)
	if err = s.finish(err, nil); err != nil {
		return nil, err
	}
	return elements, nil
}

// scanner walks over a document. It keeps no tree and does not recurse, so
// that depth costs a byte a level and nothing else.
type scanner struct {
	text []byte
	pos  int
}

// next skips white space and returns the byte behind it, which is not consumed;
// 0, which begins nothing, at the end.
func (s *scanner) next() byte {
	for s.pos < len(s.text) {
		switch c := s.text[s.pos]; c {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return c
		}
	}
	return 0
}

func (s *scanner) fail() error { return &SyntaxError{Offset: s.pos} }

// finish checks that nothing follows the document's value. A fault of the
// syntax, wherever it is, comes before what else is wrong.
func (s *scanner) finish(err, otherwise error) error {
	if _, ok := errors.AsType[*SyntaxError](err); ok {
		return err
	}
	if s.next(); s.pos < len(s.text) {
		return s.fail()
	}
	if err == nil {
		return otherwise
	}
	return err
}

// entries walks over an object or array whose opening bracket is next. one
// consumes an entry, and is told whether the entry is within the limit.
func (s *scanner) entries(closer byte, one func(keep bool) error, limit int) error {
	s.pos++
	if s.next() == closer {
		s.pos++
		return nil
	}
	for n := 1; ; n++ {
		if err := one(n <= limit); err != nil {
			return err
		}
		switch s.next() {
		case ',':
			s.pos++
		case closer:
			s.pos++
			if n > limit {
				return ErrTooMany
			}
			return nil
		default:
			return s.fail()
		}
	}
}

func (s *scanner) member() (name, value []byte, err error) {
	s.next()
	start := s.pos
	if err := s.str(); err != nil {
		return nil, nil, err
	}
	name = s.text[start:s.pos:s.pos]
	if err := s.colon(); err != nil {
		return nil, nil, err
	}
	value, err = s.slice()
	return name, value, err
}

// slice consumes a value and returns its bytes.
func (s *scanner) slice() ([]byte, error) {
	s.next()
	start := s.pos
	err := s.value()
	return s.text[start:s.pos:s.pos], err
}

// value consumes one value of any depth. open holds the bracket that each
// container waits for.
func (s *scanner) value() error {
	var open []byte
	for {
		opened, err := s.begin(&open)
		if err != nil {
			return err
		}
		if opened {
			continue
		}
		if done, err := s.end(&open); done || err != nil {
			return err
		}
	}
}

// begin consumes a scalar or an empty container, or the beginning of a
// container up to its first value, which then was opened.
func (s *scanner) begin(open *[]byte) (opened bool, err error) {
	c := s.next()
	if c != '{' && c != '[' {
		return false, s.scalar(c)
	}
	closer := c + 2 // in ASCII, of both kinds
	s.pos++
	if s.next() == closer {
		s.pos++
		return false, nil
	}
	*open = append(*open, closer)
	if c == '{' {
		return true, s.name()
	}
	return true, nil
}

// end consumes what follows a value, up to the next value. It is done when
// every container is closed.
func (s *scanner) end(open *[]byte) (done bool, err error) {
	for len(*open) > 0 {
		closer := (*open)[len(*open)-1]
		switch s.next() {
		case ',':
			s.pos++
			if closer == '}' {
				return false, s.name()
			}
			return false, nil
		case closer:
			s.pos++
			*open = (*open)[:len(*open)-1]
		default:
			return false, s.fail()
		}
	}
	return true, nil
}

// name consumes a member's name and the colon.
func (s *scanner) name() error {
	s.next()
	if err := s.str(); err != nil {
		return err
	}
	return s.colon()
}

func (s *scanner) colon() error {
	if s.next() != ':' {
		return s.fail()
	}
	s.pos++
	return nil
}
