package page

import (
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
)

const (
	// StateFailing is shown of an active endpoint whose last attempts failed.
	StateFailing = "failing"
	// StateDegraded is shown of an active endpoint of whose last attempts some
	// failed, and not the last.
	StateDegraded = "degraded"
)

const (
	// degradedBy is how many of the last attempts have to fail: one is chance.
	degradedBy = 2
	// degradedFor is how long ago they may have failed: an endpoint that gets
	// little is not degraded for weeks.
	degradedFor = 24 * time.Hour
)

// EndpointState is an endpoint's state as pages show it, by its last attempts.
func EndpointState(e gateway.Endpoint, recent []gateway.Attempt, now time.Time) string {
	switch {
	case e.State != gateway.EndpointActive:
		return string(e.State)
	case e.ConsecutiveFailures > 0:
		return StateFailing
	case failedLately(e, recent, now) >= degradedBy:
		return StateDegraded
	default:
		return string(e.State)
	}
}

// failedLately counts the last attempts that failed, tests aside, and those
// before somebody resumed the endpoint: these are forgotten.
func failedLately(e gateway.Endpoint, recent []gateway.Attempt, now time.Time) (failed int) {
	for _, a := range recent {
		old := now.Sub(a.StartedAt) > degradedFor || a.StartedAt.Before(e.StateChangedAt)
		if !old && a.Trigger != gateway.TriggerTest && (a.Outcome == gateway.OutcomeRejected || a.Outcome == gateway.OutcomeUnreachable) {
			failed++
		}
	}
	return failed
}
