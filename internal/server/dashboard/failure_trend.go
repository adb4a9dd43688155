package dashboard

import (
	"time"

	"github.com/rowlock/rowlock/internal/store"
)

const (
	// trendStep is the shortest step of a trend.
	trendStep = time.Hour
	// trendSteps is how many a trend has at the most: it is a few pixels wide.
	trendSteps = 28
)

// trend is the time that the trends of groups show, the same for all.
type trend struct {
	start time.Time
	step  time.Duration
	steps int
}

// trend begins with the time that is shown or, where that is all time, with the
// first failure.
func (f failureView) trend(groups []store.FailureGroup) trend {
	start := f.now
	if f.span.length > 0 {
		start = f.now.Add(-f.span.length)
	}
	for _, g := range groups {
		if at := g.Trend[0].At; f.span.length == 0 && at.Before(start) {
			start = at
		}
	}
	start = start.Truncate(trendStep)
	step := max((f.now.Sub(start)/trendSteps).Truncate(trendStep)+trendStep, trendStep)
	return trend{start: start, step: step, steps: int(f.now.Sub(start)/step) + 1}
}

// of is how many of a group failed in each step, those with none included. One
// step alone is no trend.
func (t trend) of(g store.FailureGroup) []float64 {
	if t.steps <= 1 {
		return nil
	}
	values := make([]float64, t.steps)
	for _, bin := range g.Trend {
		// What failed in the hour in which the time begins is of its first step.
		n := max(int(bin.At.Sub(t.start)/t.step), 0)
		values[min(n, t.steps-1)] += float64(bin.Count)
	}
	return values
}
