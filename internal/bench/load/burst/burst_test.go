package burst_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/bench/load/burst"
)

// connections is how many do it at once.
const connections = 8

// Every number comes once, warm-ups included, and only those after them count.
func TestBurstDoesEachOnce(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var numbers []int
	b, err := burst.Warm(t.Context(), connections, 100, func(_ context.Context, _, n int) error {
		mu.Lock()
		defer mu.Unlock()
		numbers = append(numbers, n)
		return nil
	})
	if err != nil || len(b.Each) != 100 || !slices.IsSorted(b.Each) {
		t.Fatalf("%v, %d times", err, len(b.Each))
	}
	slices.Sort(numbers)
	if all := slices.Compact(slices.Clone(numbers)); len(all) != len(numbers) || len(all) != 100+burst.WarmUps(connections) {
		t.Errorf("%d numbers, %d of them different", len(numbers), len(all))
	}
}

func TestBurstEndsWithTheFirstFailure(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	_, err := burst.Warm(t.Context(), connections, 1, func(ctx context.Context, _, n int) error {
		if n == 5 {
			return broken
		}
		<-ctx.Done()
		return ctx.Err()
	})
	if !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

func TestWithin(t *testing.T) {
	t.Parallel()
	ms := func(n int) (each []time.Duration) {
		for i := range n {
			each = append(each, time.Duration(i+1)*time.Millisecond)
		}
		return each
	}
	for _, test := range []struct{ of, percent, want int }{{1, 50, 1}, {1, 100, 1}, {2, 50, 1}, {200, 50, 100}, {200, 99, 198}, {150, 99, 149}, {150, 100, 150}} {
		if got := burst.Within(ms(test.of), test.percent); got != time.Duration(test.want)*time.Millisecond {
			t.Errorf("%d%% of %d: %s, want %d ms", test.percent, test.of, got, test.want)
		}
	}
}
