package e2e

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

const (
	// seedVariable names the environment variable that runs scenarios with one
	// seed again.
	seedVariable = "ROWLOCK_E2E_SEED"
	// seedsEach is with how many fresh seeds a scenario runs; make race has more.
	seedsEach = 1
)

// randomly runs a scenario with fresh seeds, or with the one that is asked for.
func randomly(t *testing.T, scenario func(t *testing.T, rng *rand.Rand)) {
	t.Helper()
	for _, seed := range seeds(t) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			t.Parallel()
			t.Logf("to run it again: %s=%d", seedVariable, seed)
			scenario(t, rand.New(rand.NewPCG(seed, 0)))
		})
	}
}

func seeds(t *testing.T) []uint64 {
	t.Helper()
	if text := os.Getenv(seedVariable); text != "" {
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatalf("%s: %v", seedVariable, err)
		}
		return []uint64{seed}
	}
	fresh := make([]uint64, seedsEach)
	for i := range fresh {
		fresh[i] = uint64(rand.Uint32())
	}
	return fresh
}

// between draws a number from low to below high.
func between(rng *rand.Rand, low, high int) int { return low + rng.IntN(high-low) }
