package page

import (
	"time"

	"github.com/rowlock/rowlock/web/component"
)

// failedNow is how many need somebody.
func (v Failures) failedNow() component.Stat {
	n := v.Numbers
	s := component.Stat{Label: "Failed, open", Value: atLeast(n.Open, n.FailedMore), Note: "given up, and nobody has looked"}
	switch {
	case n.Newest != nil:
		s.Note = "the newest " + agoWords(v.Now, *n.Newest)
	case n.Open == 0:
		s.Note = "nothing was given up"
	}
	return s
}

// affected is how many endpoints that is about.
func (v Failures) affected() component.Stat {
	s := component.Stat{Label: "Endpoints affected", Value: component.Number(v.Numbers.Affected), Note: "with open failures, or retrying"}
	if v.Numbers.Affected == 0 {
		s.Note = "all of them are well"
	}
	return s
}

// retrying is how many are still to be tried.
func (v Failures) retrying() component.Stat {
	n := v.Numbers
	s := component.Stat{Label: "Retrying", Value: atLeast(n.Retrying, n.RetryingMore), Note: "none waits for another attempt"}
	switch {
	case n.Retrying == 0:
	case n.Held == n.Retrying:
		s.Note = "held: paused or disabled"
	case n.Held > 0:
		s.Note = component.Number(n.Held) + " of them held"
	case n.Next == nil:
		s.Note = "being tried at this moment"
	case !n.Next.After(v.Now):
		s.Note = "the next is due"
	default:
		s.Note = "the next in " + component.Duration(roundedUp(n.Next.Sub(v.Now)))
	}
	return s
}

func (v Failures) dismissed() component.Stat {
	n := v.Numbers
	s := component.Stat{Label: "Dismissed", Value: atLeast(n.Dismissed, n.FailedMore && n.Dismissed > 0), Note: "open again if they come back"}
	if n.Dismissed == 0 {
		s.Note = "none"
	}
	return s
}

// agoWords writes how long ago a time was, within a sentence.
func agoWords(now, at time.Time) string {
	const moment = 2 * time.Second
	if d := now.Sub(at); d >= moment {
		return component.Duration(roundedDown(d)) + " ago"
	}
	return "just now"
}

// roundedUp and roundedDown leave out what nobody reads of a length of time.
func roundedUp(d time.Duration) time.Duration { return d.Truncate(time.Second) + time.Second }

func roundedDown(d time.Duration) time.Duration { return d.Truncate(time.Second) }
