package api

import (
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
)

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
