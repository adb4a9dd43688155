package rotate_test

import (
	"os"
	"testing"

	"github.com/rowlock/rowlock/internal/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }
