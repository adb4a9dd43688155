package page

import (
	"strconv"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/component"
)

// recentTicks are an endpoint's last attempts, oldest first, as marks: as many
// as are shown, empty places first.
func recentTicks(outcomes []gateway.Outcome) []string {
	const shown = 20
	marks := make([]string, 0, shown)
	for range shown - len(outcomes) {
		marks = append(marks, "none")
	}
	for _, outcome := range outcomes {
		marks = append(marks, recentTick(outcome))
	}
	return marks
}

func recentTick(outcome gateway.Outcome) string {
	switch outcome {
	case gateway.OutcomeSucceeded:
		return "ok"
	case gateway.OutcomeUnknown:
		return "warn"
	default:
		return "bad"
	}
}

// recentShort says in a few words how an endpoint's last attempts ended.
func recentShort(outcomes []gateway.Outcome) string {
	failed := failedOf(outcomes)
	switch {
	case len(outcomes) == 0:
		return "none yet"
	case failed == 0:
		return "all succeeded"
	default:
		return component.Number(failed) + " of " + component.Number(len(outcomes)) + " failed"
	}
}

func failedOf(outcomes []gateway.Outcome) (failed int) {
	for _, outcome := range outcomes {
		if outcome != gateway.OutcomeSucceeded {
			failed++
		}
	}
	return failed
}

// recentLabel says what the marks of an endpoint show.
func recentLabel(name string, outcomes []gateway.Outcome) string {
	if len(outcomes) == 0 {
		return "No attempts yet to " + name
	}
	failed := failedOf(outcomes)
	return strconv.Itoa(failed) + " of the last " + component.Plural(len(outcomes), "attempt", "attempts") + " to " + name + " failed"
}
