package resource

import (
	"strconv"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/server/problem"
)

// Span is what a duration has to lie within, both ends included.
type Span struct{ Least, Most time.Duration }

// Read reads a duration as Go writes it: 10s, 1m30s, 24h. What is stored is
// whole milliseconds.
func (s Span) Read(text, location string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d < s.Least || d > s.Most || d%time.Millisecond != 0 {
		return 0, problem.At(location, "want a duration from %s to %s in whole milliseconds", gateway.DurationText(s.Least), gateway.DurationText(s.Most))
	}
	return d, nil
}

// ReadAll reads a list of durations.
func (s Span) ReadAll(texts []string, location string) ([]time.Duration, error) {
	out := make([]time.Duration, len(texts))
	for i, text := range texts {
		d, err := s.Read(text, location+"["+strconv.Itoa(i)+"]")
		if err != nil {
			return nil, err
		}
		out[i] = d
	}
	return out, nil
}

// ReadOptional is nil for a duration that was left out.
func (s Span) ReadOptional(text *string, location string) (*time.Duration, error) {
	if text == nil {
		return nil, nil //nolint:nilnil // left out
	}
	d, err := s.Read(*text, location)
	return &d, err
}
