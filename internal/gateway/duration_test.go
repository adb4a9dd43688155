package gateway_test

import (
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
)

func TestDurationText(t *testing.T) {
	t.Parallel()
	for want, d := range map[string]time.Duration{
		"24h": 24 * time.Hour, "1h30m": 90 * time.Minute, "1m30s": 90 * time.Second, "1m": time.Minute, "10s": 10 * time.Second,
		"1h0m5s": time.Hour + 5*time.Second, "1.5s": 1500 * time.Millisecond, "250ms": 250 * time.Millisecond, "0s": 0, "-5m": -5 * time.Minute,
	} {
		if got := gateway.DurationText(d); got != want {
			t.Errorf("%s is written %q, want %q", d, got, want)
		}
	}
}
