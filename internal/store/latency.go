package store

import (
	"fmt"
	"strings"
	"time"
)

// latencyBounds are the longest answers, in milliseconds, that each column of
// rollups counts: five steps to a factor of ten, so that what lies between two
// of them is known to some tenth. Nothing takes longer than the last one, which
// is gateway.MaxTimeout, but for the moment that it takes to notice.
var latencyBounds = [...]int{
	5, 8, 13, 20, 32, 50, 80, 130, 200, 320, 500, 800,
	1300, 2000, 3200, 5000, 8000, 13_000, 20_000, 32_000, 60_000,
}

// Latencies counts answers by how long they took.
type Latencies [len(latencyBounds)]int64

// Count adds one answer.
func (l *Latencies) Count(took time.Duration) {
	for i, bound := range latencyBounds {
		if took <= time.Duration(bound)*time.Millisecond || i == len(latencyBounds)-1 {
			l[i]++
			return
		}
	}
}

// Quantile is how long the quickest part of all answers took at most, for a
// part from 0 to 1 (0.95 is p95): an estimate between the bounds. Zero when
// there was no answer.
func (l Latencies) Quantile(part float64) time.Duration {
	var all int64
	for _, n := range l {
		all += n
	}
	rank, below := part*float64(all), float64(0)
	low := 0
	for i, n := range l {
		high := latencyBounds[i]
		if n > 0 && below+float64(n) >= rank {
			within := (rank - below) / float64(n)
			return time.Duration((float64(low) + within*float64(high-low)) * float64(time.Millisecond))
		}
		below += float64(n)
		low = high
	}
	return 0
}

// eachLatency writes a text for each of the columns, with a comma between: %[1]s
// is the column's name, %[2]d its number from one.
func eachLatency(format string) string {
	parts := make([]string, len(latencyBounds))
	for i, bound := range latencyBounds {
		parts[i] = fmt.Sprintf(format, fmt.Sprintf("ms_%d", bound), i+1)
	}
	return strings.Join(parts, ", ")
}
