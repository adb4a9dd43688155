package gateway

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	// RetryJitter is how far a wait may stray from the schedule, so that what
	// failed together does not come back together.
	RetryJitter = 0.10
	// MaxRetryAfter bounds how long a receiver can put us off.
	MaxRetryAfter = 24 * time.Hour
)

// Answer is what the retry policy needs to know about an attempt.
type Answer struct {
	Outcome Outcome
	// StatusCode is zero when no answer came.
	StatusCode int
	// RetryAfter is the answer's header, as received.
	RetryAfter string
}

// RetryPolicy decides what follows an attempt.
type RetryPolicy struct {
	// Schedule are the waits between attempts: n waits are n+1 attempts.
	Schedule []time.Duration
	// StopOn are status codes that end the retries.
	StopOn []int
}

// Next tells what becomes of a delivery whose schedule has made step attempts
// (at least one) after an answer at now: its status and, if that is pending,
// when the next attempt is due. jitter is a random number from 0 to 1.
func (p RetryPolicy) Next(a Answer, step int, now time.Time, jitter float64) (DeliveryStatus, time.Time) {
	switch {
	case a.Outcome == OutcomeSucceeded:
		return DeliveryDelivered, time.Time{}
	case slices.Contains(p.StopOn, a.StatusCode), step > len(p.Schedule):
		return DeliveryFailed, time.Time{}
	}
	wait := p.Schedule[step-1]
	wait += time.Duration(float64(wait) * RetryJitter * (2*jitter - 1))
	if asked, ok := retryAfter(a, now); ok {
		wait = max(wait, asked)
	}
	return DeliveryPending, now.Add(wait)
}

// retryAfter reads how long the receiver of a 429 or 503 asks us to wait, in
// seconds or as a date, capped.
func retryAfter(a Answer, now time.Time) (time.Duration, bool) {
	if a.StatusCode != http.StatusTooManyRequests && a.StatusCode != http.StatusServiceUnavailable {
		return 0, false
	}
	text := strings.TrimSpace(a.RetryAfter)
	if seconds, err := strconv.ParseInt(text, 10, 64); err == nil {
		if seconds < 0 {
			return 0, false
		}
		return time.Duration(min(seconds, int64(MaxRetryAfter/time.Second))) * time.Second, true
	}
	at, err := http.ParseTime(text)
	if err != nil || at.Before(now) {
		return 0, false
	}
	return min(at.Sub(now), MaxRetryAfter), true
}

// IsTrouble tells whether an answer speaks of a receiver that cannot keep up:
// none came, or 429, or 5xx. Such answers narrow the lane.
func (a Answer) IsTrouble() bool {
	return a.Outcome == OutcomeUnreachable || a.StatusCode == http.StatusTooManyRequests || a.StatusCode >= 500
}

// IsGone tells whether the receiver said that it is gone for good (410).
func (a Answer) IsGone() bool { return a.StatusCode == http.StatusGone }
