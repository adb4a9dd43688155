package clock

import (
	"context"
	"time"
)

// Sleep waits, or until ctx ends, whose error it returns then. It measures with
// the clock that cannot jump.
func Sleep(ctx context.Context, wait time.Duration) error {
	if wait <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
