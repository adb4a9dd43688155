package gateway

import (
	"bytes"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// Redacted stands where a header carried a secret.
const Redacted = "[redacted]"

// EncodeHeaders writes headers in HTTP's wire form, names sorted, one line a
// value. Values may hold any byte but CR and LF, which HTTP forbids; a line
// break in one is written as a space.
func EncodeHeaders(h http.Header) []byte {
	if len(h) == 0 {
		return []byte{}
	}
	var out bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(h)) {
		for _, value := range h[name] {
			out.WriteString(name)
			out.WriteString(": ")
			out.WriteString(lineBreaks.Replace(value))
			out.WriteString("\r\n")
		}
	}
	return out.Bytes()
}

var lineBreaks = strings.NewReplacer("\r", " ", "\n", " ")

// DecodeHeaders reads what EncodeHeaders wrote. A line that is no header is
// left out: what is stored was written by EncodeHeaders alone.
func DecodeHeaders(wire []byte) http.Header {
	h := http.Header{}
	for line := range bytes.SplitSeq(wire, []byte("\r\n")) {
		name, value, ok := bytes.Cut(line, []byte(": "))
		if ok {
			h[string(name)] = append(h[string(name)], string(value))
		}
	}
	return h
}
