package api

import (
	"strconv"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/server/problem"
)

// span is what a duration has to lie within, both ends included.
type span struct{ least, most time.Duration }

// read reads a duration as Go writes it: 10s, 1m30s, 24h. What is stored is
// whole milliseconds.
func (s span) read(text, location string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d < s.least || d > s.most || d%time.Millisecond != 0 {
		return 0, problem.At(location, "want a duration from %s to %s in whole milliseconds", gateway.DurationText(s.least), gateway.DurationText(s.most))
	}
	return d, nil
}

// readAll reads a list of durations.
func (s span) readAll(texts []string, location string) ([]time.Duration, error) {
	out := make([]time.Duration, len(texts))
	for i, text := range texts {
		d, err := s.read(text, location+"["+strconv.Itoa(i)+"]")
		if err != nil {
			return nil, err
		}
		out[i] = d
	}
	return out, nil
}

// readOptional is nil for a duration that was left out.
func (s span) readOptional(text *string, location string) (*time.Duration, error) {
	if text == nil {
		return nil, nil //nolint:nilnil // left out
	}
	d, err := s.read(*text, location)
	return &d, err
}

// optionalDurationText is nil for no duration of one's own.
func optionalDurationText(d time.Duration) *string {
	if d == 0 {
		return nil
	}
	text := gateway.DurationText(d)
	return &text
}

// durationTexts keeps apart no schedule and one without waits.
func durationTexts(schedule []time.Duration) *[]string {
	if schedule == nil {
		return nil
	}
	texts := make([]string, len(schedule))
	for i, wait := range schedule {
		texts[i] = gateway.DurationText(wait)
	}
	return &texts
}
