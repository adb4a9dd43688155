package main

import (
	"strings"
	"testing"
)

func TestASoakTellsOfEachStep(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	if err := run(t.Context(), []string{"-rate", "20", "-for", "2s", "-every", "1s", "-endpoints", "2"}, &out); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if last := lines[len(lines)-1]; len(lines) < 4 || !strings.HasSuffix(last, "0 of them again") || strings.HasPrefix(last, "0 ") {
		t.Errorf("printed:\n%s", out.String())
	}
}
