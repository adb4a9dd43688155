package gateway

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strings"
)

// What is unpacked of a compressed body, for reading alone: text shrinks to a
// tenth or so, and what shrinks further than to a hundredth is made to be large.
const (
	maxUnpacked = 4 << 20 // bytes
	maxRatio    = 100     // unpacked to packed
)

// Readable returns a body as it can be read, and whether it had to be unpacked
// for that: the text of one that came with gzip. Any other is as it is, and so is
// one that says it is gzip and is not, or that is too large to be unpacked. What
// is verified, stored and sent on are the bytes that came.
func Readable(header http.Header, body []byte) (text []byte, unpacked bool) {
	if !isGzip(header) {
		return body, false
	}
	packed, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return body, false
	}
	most := min(maxUnpacked, maxRatio*len(body))
	text, err = io.ReadAll(io.LimitReader(packed, int64(most)+1))
	if err != nil || len(text) > most {
		return body, false
	}
	return text, true
}

// isGzip tells that a body came with gzip and nothing else.
func isGzip(header http.Header) bool {
	values := header.Values("Content-Encoding")
	return len(values) == 1 && strings.EqualFold(strings.TrimSpace(values[0]), "gzip")
}
