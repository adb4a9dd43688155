package strictjson

import "bytes"

// scalar consumes a value that is no container and begins with c.
func (s *scanner) scalar(c byte) error {
	switch {
	case c == '"':
		return s.str()
	case c == '-' || isDigit(c):
		return s.number()
	case c == 't':
		return s.word("true")
	case c == 'f':
		return s.word("false")
	case c == 'n':
		return s.word("null")
	}
	return s.fail()
}

func (s *scanner) word(word string) error {
	if !bytes.HasPrefix(s.text[s.pos:], []byte(word)) {
		return s.fail()
	}
	s.pos += len(word)
	return nil
}

// str consumes a string. What its bytes mean is for Text to say: here they
// only must not be control characters, nor broken escapes.
func (s *scanner) str() error {
	if s.pos >= len(s.text) || s.text[s.pos] != '"' {
		return s.fail()
	}
	for s.pos++; s.pos < len(s.text); s.pos++ {
		switch c := s.text[s.pos]; {
		case c == '"':
			s.pos++
			return nil
		case c == '\\':
			if err := s.escape(); err != nil {
				return err
			}
		case c < ' ':
			return s.fail()
		}
	}
	return s.fail()
}

// escape consumes an escape but for its last byte.
func (s *scanner) escape() error {
	s.pos++
	if s.pos >= len(s.text) {
		return s.fail()
	}
	switch s.text[s.pos] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return nil
	case 'u':
		for range 4 {
			s.pos++
			if s.pos >= len(s.text) || hexValue(s.text[s.pos]) < 0 {
				return s.fail()
			}
		}
		return nil
	}
	return s.fail()
}

func (s *scanner) number() error {
	if s.at('-') {
		s.pos++
	}
	switch {
	case s.at('0'):
		s.pos++
	case !s.digits():
		return s.fail()
	}
	if s.at('.') {
		s.pos++
		if !s.digits() {
			return s.fail()
		}
	}
	if !s.at('e') && !s.at('E') {
		return nil
	}
	s.pos++
	if s.at('+') || s.at('-') {
		s.pos++
	}
	if !s.digits() {
		return s.fail()
	}
	return nil
}

func (s *scanner) at(c byte) bool { return s.pos < len(s.text) && s.text[s.pos] == c }

// digits consumes digits and tells whether there was one.
func (s *scanner) digits() bool {
	start := s.pos
	for s.pos < len(s.text) && isDigit(s.text[s.pos]) {
		s.pos++
	}
	return s.pos > start
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// hexValue is the value of a hexadecimal digit; -1 for another byte.
func hexValue(c byte) rune {
	switch {
	case isDigit(c):
		return rune(c - '0')
	case 'a' <= c && c <= 'f':
		return rune(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return rune(c-'A') + 10
	}
	return -1
}
