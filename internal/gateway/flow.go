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
	// maxSilence is how long sends may go unanswered, one after the other,
	// before the lane is down to one probe: halving alone takes a timeout for
	// each step.
	maxSilence = 2 * time.Second
)

// Flow adapts how many sends to one endpoint may be under way: one more after
// each success, half as many (once per round of sends) after trouble, down to
// one probe; a failed probe makes the lane sleep, longer each time. This is
// the circuit breaker. A receiver that answers nothing any more is probed at
// once, without the halvings between.
type Flow struct {
	// Cap is how many sends may be under way now.
	Cap int
	// FailedProbes counts failures in a row while Cap was one.
	FailedProbes int
	// TimingOut tells that the last trouble was a timeout.
	TimingOut bool
	// SleepUntil is when the next probe may go out; zero when awake.
	SleepUntil time.Time
	// NarrowedAt is when the cap was last halved: sends that started before it
	// belong to the round that was already answered for. Zero is never.
	NarrowedAt time.Time
	// unanswered counts the missing answers since the last answer, silentSince
	// is when the first of them was missed, and round is how wide the lane was
	// then.
	unanswered, round int
	silentSince       time.Time
}

// Success widens the lane by one, up to limit.
func (f *Flow) Success(limit int) {
	f.Answered()
	f.Cap = min(f.Cap+1, max(limit, 1))
}

// Answered notes an answer that is neither success nor trouble: the receiver
// is there, so the lane need not sleep.
func (f *Flow) Answered() {
	f.FailedProbes, f.TimingOut, f.SleepUntil, f.unanswered = 0, false, time.Time{}, 0
}

// Trouble narrows the lane after a send that started at started and failed at
// now. missing is why no answer came; empty when one did.
func (f *Flow) Trouble(started, now time.Time, missing ErrorKind) {
	f.TimingOut = missing == ErrorTimeout
	switch {
	case f.silent(now, missing):
		f.Cap, f.NarrowedAt = 1, now
	case started.Before(f.NarrowedAt):
	case f.Cap > 1:
		f.Cap, f.NarrowedAt = f.Cap/2, now
	default:
		f.Cap, f.NarrowedAt = 1, now
		f.SleepUntil = now.Add(min(time.Second<<f.FailedProbes, MaxProbeSleep))
		f.FailedProbes = min(f.FailedProbes+1, maxFailedProbes)
	}
}

// silent tells that a lane which is wider than a probe gets no answers: a whole
// round of sends, or two and more for a while.
func (f *Flow) silent(now time.Time, missing ErrorKind) bool {
	if missing == "" {
		f.unanswered = 0
		return false
	}
	if f.unanswered == 0 {
		f.silentSince, f.round = now, f.Cap
	}
	f.unanswered++
	return f.Cap > 1 && f.unanswered > 1 && (f.unanswered >= f.round || now.Sub(f.silentSince) >= maxSilence)
}
