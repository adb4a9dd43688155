package config

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// maxRetries bounds a retry schedule. More would be a mistake: a hundred
// waits of an hour are four days already.
const maxRetries = 100

// Schedule is the waits between the attempts of a delivery: n waits make n+1
// attempts.
type Schedule []time.Duration

// UnmarshalText accepts positive durations separated by commas.
func (s *Schedule) UnmarshalText(text []byte) error {
	var waits Schedule
	for item := range strings.SplitSeq(string(text), ",") {
		wait, err := time.ParseDuration(strings.TrimSpace(item))
		if err != nil {
			return fmt.Errorf("parse wait: %w", err)
		}
		if wait <= 0 {
			return errors.New("parse wait: not positive")
		}
		waits = append(waits, wait)
	}
	if len(waits) > maxRetries {
		return errors.New("parse schedule: too many waits")
	}
	*s = waits
	return nil
}

// String writes the schedule as UnmarshalText reads it.
func (s Schedule) String() string {
	items := make([]string, len(s))
	for i, wait := range s {
		items[i] = wait.String()
	}
	return strings.Join(items, ",")
}
