package server_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/rowlock/rowlock/internal/pgtest"
)

// What colours the documentation's code keeps a clock for its time-outs, which
// stops by itself a second after the last.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(pgtest.Suite{M: m}, goleak.IgnoreAnyFunction(clockOfColours))
}

const clockOfColours = "github.com/dlclark/regexp2/v2.runClock"
