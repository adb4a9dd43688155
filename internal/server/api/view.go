package api

import (
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/rowlock/rowlock/internal/gateway"
)

// objectReply answers with one object.
type objectReply[V any] struct{ Body V }

// object makes an objectReply of what a use case or the store returned.
func object[R, V any](row R, err error, view func(R) V) (*objectReply[V], error) {
	if err != nil {
		return nil, err
	}
	return &objectReply[V]{view(row)}, nil
}

// empty answers with a status alone.
type empty struct{}

// timestamp is a time as the API writes it: RFC 3339, UTC, microseconds.
type timestamp time.Time

// timestampForm always has six digits after the point, so that texts sort.
const timestampForm = `"2006-01-02T15:04:05.000000Z"`

// MarshalJSON writes the time.
func (t timestamp) MarshalJSON() ([]byte, error) {
	return []byte(time.Time(t).UTC().Format(timestampForm)), nil
}

// Schema describes it.
func (timestamp) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Format: "date-time", Examples: []any{"2026-07-01T12:00:00.000000Z"}}
}

// optionalTime is nil for no time.
func optionalTime(t *time.Time) *timestamp {
	if t == nil {
		return nil
	}
	return (*timestamp)(t)
}

// millis is a duration in milliseconds, to the microsecond.
func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// headerView shows headers as they were sent or received, each with its values
// in order.
type headerView map[string][]string

// headers decodes stored headers. What is not UTF-8 is replaced.
func headers(wire []byte) headerView {
	view := headerView{}
	for name, values := range gateway.DecodeHeaders(wire) {
		for _, value := range values {
			view[printable(name)] = append(view[printable(name)], printable(value))
		}
	}
	return view
}

// printable replaces what JSON cannot carry.
func printable(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }

// contentType is the media type among stored headers.
func contentType(wire []byte) string {
	return http.Header(gateway.DecodeHeaders(wire)).Get("Content-Type")
}

// optional is nil for a zero value, which is then left out of the answer.
func optional[T comparable](value T) *T {
	var zero T
	if value == zero {
		return nil
	}
	return &value
}
