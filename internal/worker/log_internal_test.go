package worker

import (
	"log/slog"
	"strings"
	"testing"
)

func TestQueueIsQuiet(t *testing.T) {
	t.Parallel()
	for level, want := range map[slog.Level]string{slog.LevelInfo: "warned", slog.LevelDebug: "counted warned"} {
		var out strings.Builder
		log := quietly(slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: level}))).With("a", 1).WithGroup("g")
		log.Info("counted")
		log.Warn("warned")
		var got []string
		for line := range strings.Lines(out.String()) {
			got = append(got, line[strings.Index(line, "msg=")+len("msg="):strings.Index(line, " a=1")])
		}
		if strings.Join(got, " ") != want {
			t.Errorf("at %s it says %q, want %q", level, got, want)
		}
	}
}
