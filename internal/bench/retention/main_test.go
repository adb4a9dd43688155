package main

import (
	"os"
	"strings"
	"testing"

	"github.com/rowlock/rowlock/internal/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

func TestADayIsDroppedWhileEventsAreAccepted(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	err := run(t.Context(), []string{"-url", pgtest.Empty(t), "-events", "1000", "-runs", "1", "-accounts", "2", "-days", "3"}, &out)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"1000 events of 2 accounts in 3 days", "nothing is dropped", "open deliveries closed", ": dropped"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in:\n%s", want, out.String())
		}
	}
}
