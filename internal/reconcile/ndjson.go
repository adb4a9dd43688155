package reconcile

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"unicode/utf8"

	"github.com/rowlock/rowlock/internal/gateway"
)

// jsonList reads one JSON value a line: an object with the key in a field, or the
// key alone, as a text or a number. Numbers keep every digit.
type jsonList struct {
	Layout

	in   *bufio.Reader
	line int
}

func newJSONList(in *bufio.Reader, layout Layout) *jsonList {
	return &jsonList{Layout: layout, in: in}
}

// next reads a row; empty lines are passed over.
func (j *jsonList) next() (gateway.PartnerRow, error) {
	for {
		text, err := j.readLine()
		row := gateway.PartnerRow{N: j.line}
		if err != nil {
			return row, err
		}
		if text = bytes.TrimSpace(text); len(text) == 0 {
			continue
		}
		if text[0] == '[' && j.line == 1 {
			return row, listFault("The list is one JSON array: write one row a line, without brackets and commas around them.")
		}
		key, eventType, why := j.fields(text)
		if why != "" {
			return row, &rowError{j.line, why}
		}
		return j.row(j.line, key, eventType)
	}
}

// readLine reads a line that is valid until the next one is read.
func (j *jsonList) readLine() ([]byte, error) {
	j.line++
	text, err := j.in.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		if err := skipLine(j.in); err != nil {
			return nil, err
		}
		return nil, &rowError{j.line, "is longer than 64 KiB"}
	case errors.Is(err, io.EOF) && len(text) == 0:
		return nil, io.EOF
	case err != nil && !errors.Is(err, io.EOF):
		return nil, readFault(err)
	}
	return text, nil
}

// skipLine passes over the rest of a line, or of the list.
func skipLine(in *bufio.Reader) error {
	for {
		_, err := in.ReadSlice('\n')
		switch {
		case err == nil, errors.Is(err, io.EOF):
			return nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return readFault(err)
		}
	}
}

// fields takes key and type out of a line, or says why they are not to be had.
func (j *jsonList) fields(text []byte) (key, eventType, why string) {
	if !utf8.Valid(text) {
		return "", "", "is not UTF-8 text"
	}
	if text[0] != '{' {
		if j.TypeColumn != "" {
			return "", "", "has no type: it is no JSON object"
		}
		key, ok := plainValue(text)
		if !ok {
			return "", "", "is neither a JSON object nor a text or a number"
		}
		return key, "", ""
	}
	var all map[string]json.RawMessage
	if json.Unmarshal(text, &all) != nil {
		return "", "", "is no JSON"
	}
	if key, why = field(all, j.keyNames()); why != "" || j.TypeColumn == "" {
		return key, "", why
	}
	eventType, why = field(all, []string{j.TypeColumn})
	return key, eventType, why
}

// keyNames are the fields that may hold the key: the first that is there does.
func (j *jsonList) keyNames() []string {
	if j.KeyColumn != "" {
		return []string{j.KeyColumn}
	}
	return usualNames[j.MatchBy]
}

// field is the first of some fields that is there; one that is null is not.
func field(all map[string]json.RawMessage, names []string) (text, why string) {
	for _, name := range names {
		raw, there := all[name]
		if !there || string(raw) == "null" {
			continue
		}
		if text, ok := plainValue(raw); ok {
			return text, ""
		}
		return "", "“" + shortened(name) + "” is neither a text nor a number"
	}
	return "", "has no field “" + shortened(names[0]) + "”"
}

// plainValue is a JSON text or number as text.
func plainValue(raw []byte) (string, bool) {
	if raw[0] == '"' {
		var text string
		err := json.Unmarshal(raw, &text)
		return text, err == nil
	}
	var number json.Number
	if json.Unmarshal(raw, &number) != nil || string(raw) == "null" {
		return "", false
	}
	return number.String(), true
}
