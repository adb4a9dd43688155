package server_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/rowlock/rowlock/internal/pgtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(pgtest.Suite{M: m}) }
