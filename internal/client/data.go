package client

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"
)

// maxData bounds, in bytes, what ReadData takes into memory. Servers accept
// 1 MiB unless their limit was raised; this is far above any sensible limit.
const maxData = 64 << 20

// byteOrderMark is what some editors put before the text of a file.
const byteOrderMark = "\xef\xbb\xbf"

// DataError is event data that cannot be sent.
type DataError struct{ Problem string }

// Error says what is wrong with the data, and where.
func (e *DataError) Error() string { return "event data " + e.Problem }

// Hint says what data looks like.
func (e *DataError) Hint() string {
	return `Data is one JSON value: an object such as {"order":42}, an array, a string in double quotes, a number, true, false or null. In a shell, put it in single quotes.`
}

// ReadData finds the data that spec means: "-" is all of stdin, "@name" is the
// file of that name, and anything else is the data itself. The data is checked
// by CheckData. Errors: a *DataError, or why the input could not be read.
func ReadData(spec string, stdin io.Reader) ([]byte, error) {
	data, err := readSpec(spec, stdin)
	if err != nil {
		return nil, err
	}
	return data, CheckData(data)
}

func readSpec(spec string, stdin io.Reader) ([]byte, error) {
	name, isFile := strings.CutPrefix(spec, "@")
	switch {
	case spec == "-":
		return readAll("standard input", stdin)
	case isFile:
		file, err := os.Open(name) //nolint:gosec // the person at the keyboard names the file
		if err != nil {
			return nil, fmt.Errorf("read event data: %w", err)
		}
		defer file.Close() //nolint:errcheck // only read from
		return readAll(name, file)
	default:
		return []byte(spec), nil
	}
}

func readAll(name string, r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxData+1))
	if err != nil {
		return nil, fmt.Errorf("read event data from %s: %w", name, err)
	}
	if len(data) > maxData {
		return nil, &DataError{fmt.Sprintf("is larger than %d MiB", maxData>>20)}
	}
	return data, nil
}

// CheckData tells whether data can be sent as it stands: UTF-8, and exactly
// one JSON value. The error is a *DataError that names line and column,
// counted from 1 in bytes.
func CheckData(data []byte) error {
	switch {
	case len(bytes.TrimSpace(data)) == 0:
		return &DataError{"is empty"}
	case bytes.HasPrefix(data, []byte(byteOrderMark)):
		return &DataError{"starts with a byte order mark: save it as UTF-8 without one"}
	case !utf8.Valid(data):
		return &DataError{"is not UTF-8 " + at(data, firstInvalid(data))}
	}
	var value json.RawMessage
	err := json.Unmarshal(data, &value)
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return &DataError{fmt.Sprintf("is not JSON %s: %s", at(data, int(syntax.Offset)-1), syntax)}
	}
	if err != nil {
		return &DataError{"is not JSON: " + err.Error()}
	}
	return nil
}

// firstInvalid returns the offset of the first byte that is not UTF-8.
func firstInvalid(data []byte) int {
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return len(data)
}

// at tells people where an offset is.
func at(data []byte, offset int) string {
	before := data[:min(max(offset, 0), len(data))]
	line := bytes.Count(before, []byte("\n")) + 1
	column := len(before) - (bytes.LastIndexByte(before, '\n') + 1) + 1
	return fmt.Sprintf("at line %d, column %d", line, column)
}
