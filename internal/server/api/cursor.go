package api

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"strings"

	"github.com/rowlock/rowlock/internal/server/problem"
)

const (
	// cursorVersion changes when the form does; old cursors then are not ours.
	cursorVersion = 1
	// cursorCheck is how many bytes of hash bind a cursor to its list and tell
	// a damaged one. It is no protection, and needs none: a cursor says where
	// to go on in a list that its caller may see anyway.
	cursorCheck = 6
)

// encodeCursor makes a cursor for a kind of list out of a position.
func encodeCursor(list string, position []byte) string {
	text := append([]byte{cursorVersion}, position...)
	return base64.RawURLEncoding.EncodeToString(append(text, cursorSum(list, position)...))
}

// decodeCursor returns the position, which is of the given length. What
// encodeCursor did not make for this kind of list is problem.InvalidCursor.
func decodeCursor(list, cursor string, length int) ([]byte, error) {
	// The decoder passes over line breaks; a cursor has one spelling.
	text, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	if err != nil || strings.ContainsAny(cursor, "\r\n") || len(text) != 1+length+cursorCheck || text[0] != cursorVersion {
		return nil, notACursor()
	}
	position, sum := text[1:1+length], text[1+length:]
	if !bytes.Equal(sum, cursorSum(list, position)) {
		return nil, notACursor()
	}
	return position, nil
}

// decodeTextCursor is decodeCursor for positions that are texts of any length.
func decodeTextCursor(list, cursor string) ([]byte, error) {
	length := base64.RawURLEncoding.DecodedLen(len(cursor)) - 1 - cursorCheck
	if length < 0 {
		return nil, notACursor()
	}
	return decodeCursor(list, cursor, length)
}

func cursorSum(list string, position []byte) []byte {
	sum := sha256.Sum256(append([]byte(list+"\x00"), position...))
	return sum[:cursorCheck]
}

func notACursor() error {
	return problem.New(problem.InvalidCursor, "", problem.Fault{Message: "not a cursor of this list", Location: "query.cursor"})
}
