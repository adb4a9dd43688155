package tracing

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// A collector that is away is told of, and not with every batch.
func TestComplaintsAreRare(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	now := time.Date(2031, 5, 1, 12, 0, 0, 0, time.UTC)
	c := newComplaints(Options{Log: slog.New(slog.NewTextHandler(&log, nil)), Now: func() time.Time { return now }})
	for range 10 {
		c.handle(errors.New("refused"))
		now = now.Add(complainEvery / 5)
	}
	if told := strings.Count(log.String(), "sending traces"); told != 2 {
		t.Errorf("told %d times:\n%s", told, log.String())
	}
}
