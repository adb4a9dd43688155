package rule

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
)

func TestTurns(t *testing.T) {
	t.Parallel()
	turns, over := NewTurns(), make(chan struct{})
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	take := func(ctx context.Context, account byte) (func(), error) {
		return turns.Take(ctx, gateway.AccountID{account})
	}
	first, err := take(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := take(gone, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("an account's second at once: %v", err)
	}
	for range turnsOfOne - 1 {
		go func() {
			done, err := take(t.Context(), 1)
			if err != nil {
				t.Errorf("one that waited: %v", err)
			} else {
				done()
			}
			over <- struct{}{}
		}()
	}
	waitFor(t, func() bool {
		turns.mu.Lock()
		defer turns.mu.Unlock()
		return turns.of[gateway.AccountID{1}].in == turnsOfOne
	})
	if _, err := take(t.Context(), 1); !errors.Is(err, gateway.ErrRateLimited) {
		t.Errorf("one more than may wait: %v", err)
	}
	second, err := take(t.Context(), 2)
	if err != nil {
		t.Fatalf("another account waits behind the first: %v", err)
	}
	if _, err := take(gone, 3); !errors.Is(err, context.Canceled) {
		t.Errorf("more at once than there are places: %v", err)
	}
	first()
	for range turnsOfOne - 1 {
		<-over
	}
	second()
	if len(turns.of) != 0 || len(turns.places) != 0 {
		t.Errorf("%d accounts and %d places are left", len(turns.of), len(turns.places))
	}
}

// waitFor yields until something is so.
func waitFor(t *testing.T, so func() bool) {
	t.Helper()
	for ends := time.Now().Add(time.Minute); !so(); runtime.Gosched() {
		if time.Now().After(ends) {
			t.Fatal("it has not come")
		}
	}
}
