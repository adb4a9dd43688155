package gateway

import "time"

// LaneRef names the lane of an endpoint.
type LaneRef struct {
	AccountID  AccountID
	EndpointID EndpointID
}

const (
	// InitialInFlightCap is where an endpoint's in-flight cap starts.
	InitialInFlightCap = 4
	// MaxProbeSleep bounds how long a lane sleeps after failed probes.
	MaxProbeSleep = 30 * time.Second
	// maxFailedProbes keeps the doubling within MaxProbeSleep.
	maxFailedProbes = 6
)

// Flow adapts how many sends to one endpoint may be under way: one more after
// each success, half as many (once per round of sends) after trouble, down to
// one probe; a failed probe makes the lane sleep, longer each time. This is
// the circuit breaker.
type Flow struct {
	// Cap is how many sends may be under way now.
	Cap int
	// FailedProbes counts failures in a row while Cap was one.
	FailedProbes int
	// TimingOut tells that the last trouble was a timeout.
	TimingOut bool
	// SleepUntil is when the next probe may go out; zero when awake.
	SleepUntil time.Time
	// halvedAt is when the cap was last halved: sends that started before it
	// belong to the round that was already answered for.
	halvedAt time.Time
}

// Success widens the lane by one, up to limit.
func (f *Flow) Success(limit int) {
	f.Answered()
	f.Cap = min(f.Cap+1, max(limit, 1))
}

// Answered notes an answer that is neither success nor trouble: the receiver
// is there, so the lane need not sleep.
func (f *Flow) Answered() {
	f.FailedProbes, f.TimingOut, f.SleepUntil = 0, false, time.Time{}
}

// Trouble narrows the lane after a send that started at started and failed at
// now.
func (f *Flow) Trouble(started, now time.Time, timeout bool) {
	f.TimingOut = timeout
	if started.Before(f.halvedAt) {
		return
	}
	f.halvedAt = now
	if f.Cap > 1 {
		f.Cap /= 2
		return
	}
	f.Cap = 1
	f.SleepUntil = now.Add(min(time.Second<<f.FailedProbes, MaxProbeSleep))
	f.FailedProbes = min(f.FailedProbes+1, maxFailedProbes)
}
