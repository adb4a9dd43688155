package gateway

import "time"

// paceSlack is how much of a second's sends may begin at once: a limit of ten a
// second lets them go one by one, one of a thousand in groups, which cost less.
const paceSlack = 100 * time.Millisecond

// Pace keeps to a limit a second by spacing sends evenly. It is the time at
// which the next send would be due had each waited for the one before, so that
// one number carries a limit over from one holder of a lane to the next. The
// zero value has sent nothing yet.
type Pace struct{ Due time.Time }

// Room tells how many sends may begin at now.
func (p Pace) Room(perSecond int, now time.Time) int {
	left := slack(perSecond) - max(p.Due.Sub(now), 0)
	if left < 0 {
		return 0
	}
	return int(left/between(perSecond)) + 1
}

// Next is when a send may begin: now, or a moment later.
func (p Pace) Next(perSecond int, now time.Time) time.Time {
	if at := p.Due.Add(-slack(perSecond)); at.After(now) {
		return at
	}
	return now
}

// Take notes that n sends begin at now. One that is a little late does not make
// the next one late, too; one after a rest begins anew.
func (p *Pace) Take(n, perSecond int, now time.Time) {
	if now.Sub(p.Due) > between(perSecond) {
		p.Due = now
	}
	p.Due = p.Due.Add(time.Duration(n) * between(perSecond))
}

// between is the time from one send to the next.
func between(perSecond int) time.Duration { return time.Second / time.Duration(max(perSecond, 1)) }

// slack is how far ahead of their times sends may begin.
func slack(perSecond int) time.Duration { return max(paceSlack-between(perSecond), 0) }
