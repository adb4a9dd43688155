package clock

import "time"

const (
	// sampleAge is how long a sample is believed: a step of either clock is
	// followed within it, even if nothing else betrays the step.
	sampleAge = 45 * time.Second
	// maxSamples bounds memory: one a second for as long as they are believed.
	maxSamples = 64
	// maxDrift is how fast two clocks may drift apart without a step. Good
	// ones do 50 parts per million, bad virtual ones ten times as much.
	maxDrift = 500e-6
	// stepMargin is what two samples may disagree by, beyond drift, before a
	// step is suspected: the resolution of the times compared.
	stepMargin = time.Millisecond
)

// sample is one comparison of the two clocks. The database read its clock at
// some moment between sent and received, so the true offset is within half a
// round trip of the middle.
type sample struct {
	at        time.Duration // when it was received, since base
	offset    time.Duration // database minus the middle of the round trip
	roundTrip time.Duration
}

// Observe corrects the clock by one reading of the database's. sent and
// received are the node's time.Now() before and after the query that returned
// database, which must come from clock_timestamp().
//
// Of the recent readings the one with the shortest round trip counts, so that
// a slow query does not move the clock. A reading that contradicts it proves
// that a clock was set, and replaces all before it at once.
func (c *Clock) Observe(sent, received, database time.Time) {
	s := sample{at: received.Sub(c.base), roundTrip: received.Sub(sent)}
	if s.roundTrip < 0 || database.IsZero() {
		return // the times do not belong together
	}
	middle := sent.Sub(c.base) + s.roundTrip/2
	s.offset = database.Round(0).Sub(c.base.Round(0)) - middle

	c.observed.Lock()
	defer c.observed.Unlock()
	c.forget(s)
	c.samples = append(c.samples, s)
	c.offset.Store(int64(c.best().offset))
}

// forget drops the samples that s makes worthless: those too old, those too
// many, and all of them when s contradicts the best.
func (c *Clock) forget(s sample) {
	if len(c.samples) > 0 && s.contradicts(c.best()) {
		c.samples = c.samples[:0]
		return
	}
	stale := max(0, len(c.samples)-maxSamples+1)
	for stale < len(c.samples) && s.at-c.samples[stale].at > sampleAge {
		stale++
	}
	c.samples = append(c.samples[:0], c.samples[stale:]...)
}

// best returns the sample with the shortest round trip; of equals, the newest.
func (c *Clock) best() sample {
	best := c.samples[0]
	for _, s := range c.samples[1:] {
		if s.roundTrip <= best.roundTrip {
			best = s
		}
	}
	return best
}

// contradicts tells whether no offset satisfies both samples, allowing for
// the drift between them.
func (s sample) contradicts(older sample) bool {
	apart := (s.offset - older.offset).Abs()
	drift := time.Duration(float64((s.at - older.at).Abs()) * maxDrift)
	return apart > (s.roundTrip+older.roundTrip)/2+drift+stepMargin
}
