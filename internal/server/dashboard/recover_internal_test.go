package dashboard

import (
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
)

// What failed first came in before it failed: the usual period has it.
func TestUsualPeriodOfRecovery(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	for failing, want := range map[time.Duration]string{
		0:                          "24h",
		2 * time.Hour:              "24h",
		23*time.Hour + time.Minute: "7d",
		24 * time.Hour:             "7d",
		3 * 24 * time.Hour:         "7d",
		7 * 24 * time.Hour:         rangeAll,
		20 * 24 * time.Hour:        rangeAll,
	} {
		e := gateway.Endpoint{FailingSince: new(now.Add(-failing))}
		if got := usualSince(e, now); got != want {
			t.Errorf("failing for %s: %s, want %s", failing, got, want)
		}
	}
	if got := usualSince(gateway.Endpoint{}, now); got != "24h" {
		t.Errorf("well: %s", got)
	}
}
