package dashboard

import (
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/page"
)

// plannedSteps say what is still to come, the soonest first.
func plannedSteps(s story, now time.Time) []page.EventStep {
	var steps []page.EventStep
	for _, d := range s.deliveries {
		name, number := called(d.Endpoint), strconv.Itoa(d.Attempts+1)
		switch {
		case d.Status == gateway.DeliveryHeld:
			step := stepOf(farAway, "", "pause", "Held: "+name, "The endpoint is "+string(d.Endpoint.State)+". It goes on when somebody resumes it.")
			steps = append(steps, step)
		case d.WaitingOn != nil:
			steps = append(steps, stepOf(farAway, "", "hourglass", "Waits: "+name, "The fact is to be told once, and its claim is not free. If it is confirmed, this delivery is suppressed."))
		case d.Status == gateway.DeliverySending:
			step := stepOf(now, component.ToneInfo, "send", "Attempt "+strconv.Itoa(d.Attempts)+" to "+name+" is on its way", "")
			step.Time = "now"
			steps = append(steps, step)
		case d.Status == gateway.DeliveryPending && d.NextAttemptAt != nil:
			step := stepOf(*d.NextAttemptAt, component.ToneWarn, "clock", "Attempt "+number+" to "+name+" is planned", whyThen(s, d))
			step.Time = until(*d.NextAttemptAt, now)
			steps = append(steps, step)
		}
	}
	slices.SortStableFunc(steps, func(a, b page.EventStep) int { return a.At.Compare(b.At) })
	return steps
}

// farAway sorts behind every time that is planned.
var farAway = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

func until(at, now time.Time) string {
	if !at.After(now) {
		return "now"
	}
	return "in " + component.Duration(at.Sub(now).Round(time.Second))
}

// whyThen says why the next attempt is when it is.
func whyThen(s story, d store.DeliveryRow) string {
	for _, a := range slices.Backward(s.attempts) {
		if a.DeliveryID != d.ID {
			continue
		}
		if asked := gateway.DecodeHeaders(a.ResponseHeaders).Get("Retry-After"); asked != "" && (a.StatusCode == http.StatusTooManyRequests || a.StatusCode == http.StatusServiceUnavailable) {
			return "Not before the receiver asked for: retry-after: " + component.Shorten(asked, longNote) + "."
		}
		return "By the endpoint's retry schedule."
	}
	return "It goes out as soon as the endpoint takes more."
}
