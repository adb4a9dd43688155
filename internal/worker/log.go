package worker

import (
	"context"
	"log/slog"
)

// quiet passes on what the queue warns of. What it counts and announces, some
// lines every few seconds, means nothing to an operator, and is there for
// whoever asked for debugging.
type quiet struct{ slog.Handler }

func quietly(log *slog.Logger) *slog.Logger { return slog.New(quiet{log.Handler()}) }

// Enabled tells whether a line is passed on: an informative one counts as one
// for debugging.
func (q quiet) Enabled(ctx context.Context, level slog.Level) bool {
	if level < slog.LevelWarn {
		level = slog.LevelDebug
	}
	return q.Handler.Enabled(ctx, level)
}

// WithAttrs keeps it quiet.
func (q quiet) WithAttrs(attrs []slog.Attr) slog.Handler { return quiet{q.Handler.WithAttrs(attrs)} }

// WithGroup keeps it quiet.
func (q quiet) WithGroup(name string) slog.Handler { return quiet{q.Handler.WithGroup(name)} }
