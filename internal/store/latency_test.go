package store_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/store"
)

func TestQuantile(t *testing.T) {
	t.Parallel()
	ms := func(n float64) time.Duration { return time.Duration(n * float64(time.Millisecond)) }
	for name, c := range map[string]struct {
		took []time.Duration
		part float64
		want time.Duration
	}{
		"none":                 {nil, 0.95, 0},
		"one, at the bound":    {[]time.Duration{ms(5)}, 1, ms(5)},
		"one, the middle":      {[]time.Duration{ms(5)}, 0.5, ms(2.5)},
		"one, no time":         {[]time.Duration{0}, 1, ms(5)},
		"one, behind a bound":  {[]time.Duration{ms(5.1)}, 1, ms(8)},
		"two, the first":       {[]time.Duration{ms(4), ms(100)}, 0.5, ms(5)},
		"two, the second":      {[]time.Duration{ms(4), ms(100)}, 1, ms(130)},
		"longer than all":      {[]time.Duration{time.Hour}, 1, ms(60_000)},
		"the least of several": {[]time.Duration{ms(300), ms(301)}, 0, ms(200)},
	} {
		var l store.Latencies
		for _, took := range c.took {
			l.Count(took)
		}
		if got := l.Quantile(c.part); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// What is shown is not far from what was measured.
func TestQuantileIsNear(t *testing.T) {
	t.Parallel()
	r := seeded()
	for range 50 {
		var l store.Latencies
		var all []time.Duration
		typical := math.Exp(2+6*r.Float64()) * float64(time.Millisecond)
		for range 2000 {
			took := time.Duration(typical * math.Exp(0.6*r.NormFloat64()))
			l.Count(min(took, time.Minute))
			all = append(all, min(took, time.Minute))
		}
		slices.Sort(all)
		real, shown := all[len(all)*95/100], l.Quantile(0.95)
		if off := math.Abs(math.Log(float64(shown) / float64(real))); real > 5*time.Millisecond && off > 0.2 {
			t.Errorf("p95 of %s is shown as %s", real, shown)
		}
	}
}
