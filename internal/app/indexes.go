package app

import (
	"context"
	"log/slog"
	"time"

	"github.com/rowlock/rowlock/internal/migrate"
)

// finishEvery is how often it is looked whether indexes are left to be built: by
// who found another node at it, or failed.
const finishEvery = 30 * time.Second

// finishIndexes builds the indexes that migrations have left to be built on big
// tables, beside the traffic, until none is left or ctx ends. Of many nodes one does
// it, and another goes on when that one dies.
func finishIndexes(ctx context.Context, databaseURL string, log *slog.Logger) {
	tick := time.NewTicker(finishEvery)
	defer tick.Stop()
	failing := false
	for {
		done, err := migrate.Build(ctx, databaseURL, log)
		if done || ctx.Err() != nil {
			return
		}
		if err != nil && !failing {
			log.Warn("building indexes: it is tried again", "error", err)
		}
		failing = err != nil
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}
