package strictjson

import (
	"bytes"
	"errors"
	"unicode/utf16"
	"unicode/utf8"
)

// What a value can fail to be as a text of ours.
var (
	// ErrNotText: the value is not a string.
	ErrNotText = errors.New("want a string")
	// ErrNUL: the string holds a NUL character, which PostgreSQL cannot store.
	ErrNUL = errors.New("must not hold a NUL character")
	// ErrUTF8: the string is not valid UTF-8, or escapes half a surrogate pair.
	ErrUTF8 = errors.New("is not valid UTF-8")
)

// IsNull tells whether a value is null.
func IsNull(value []byte) bool { return string(value) == "null" }

// Text decodes a value that Members or Elements returned, or a member's name.
// Where encoding/json would replace what is not UTF-8, it is ErrUTF8.
func Text(value []byte) (string, error) {
	if len(value) < 2 || value[0] != '"' {
		return "", ErrNotText
	}
	inside := value[1 : len(value)-1]
	if bytes.IndexByte(inside, '\\') >= 0 {
		var err error
		if inside, err = unescape(inside); err != nil {
			return "", err
		}
	}
	switch {
	case !utf8.Valid(inside):
		return "", ErrUTF8
	case bytes.IndexByte(inside, 0) >= 0:
		return "", ErrNUL
	}
	return string(inside), nil
}

var simpleEscapes = map[byte]byte{
	'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
}

// unescape replaces the escapes of a string whose syntax was checked.
func unescape(inside []byte) ([]byte, error) {
	out := make([]byte, 0, len(inside))
	for i := 0; i < len(inside); i++ {
		if inside[i] != '\\' {
			out = append(out, inside[i])
			continue
		}
		i++
		if inside[i] != 'u' {
			out = append(out, simpleEscapes[inside[i]])
			continue
		}
		r, length := escapedRune(inside[i+1:])
		if r == utf8.RuneError && length == 0 {
			return nil, ErrUTF8
		}
		out = utf8.AppendRune(out, r)
		i += length
	}
	return out, nil
}

// escapedRune reads what follows \u: four digits, or eight around a second \u
// for a surrogate pair. It returns how many bytes that is; 0 for half a pair.
func escapedRune(rest []byte) (rune, int) {
	const one, pair = 4, 10
	first := hex4(rest)
	if !utf16.IsSurrogate(first) {
		return first, one
	}
	if len(rest) >= pair && rest[4] == '\\' && rest[5] == 'u' {
		if r := utf16.DecodeRune(first, hex4(rest[6:])); r != utf8.RuneError {
			return r, pair
		}
	}
	return utf8.RuneError, 0
}

func hex4(digits []byte) (r rune) {
	for _, d := range digits[:4] {
		r = r<<4 | hexValue(d)
	}
	return r
}
