package rule

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
)

// maxDepth is how deep lists and objects may lie in each other. A body beyond
// it is none that can be read: encoding/json stops there.
const maxDepth = 10_000

var byteOrderMark = []byte("\xef\xbb\xbf")

// decode reads a body as JSON; not ok is a body that is none. What JSON leaves
// open is decided so: of two fields of one name the last one counts, bytes that
// are not UTF-8 and halves of surrogate pairs are U+FFFD, a byte order mark
// before it is passed over.
//
// Integers are int64, above its range uint64. All other numbers are texts, as
// they were written: nothing is rounded.
func decode(body []byte) (value any, ok bool) {
	d := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(body, byteOrderMark)))
	d.UseNumber()
	if err := d.Decode(&value); err != nil {
		return nil, false
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, false
	}
	return numbered(value), true
}

// numbered puts numbers in the place of their texts.
func numbered(value any) any {
	switch v := value.(type) {
	case json.Number:
		return number(string(v))
	case []any:
		for i := range v {
			v[i] = numbered(v[i])
		}
	case map[string]any:
		for name, field := range v {
			v[name] = numbered(field)
		}
	}
	return value
}

func number(text string) any {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n
	}
	if n, err := strconv.ParseUint(text, 10, 64); err == nil {
		return n
	}
	return text
}
