package store

import (
	"context"
	"time"
)

const (
	// sourcesChannel is where triggers tell that a source, one of its secrets or
	// an event type changed.
	sourcesChannel = "rowlock_sources"
	// listenPause is how long to wait before listening again after an error.
	listenPause = time.Second
)

// ListenSources calls changed when a source or an event type changed, and
// whenever something may have been missed, until ctx ends. It is an accelerator:
// who caches one of them must also forget it in time without being told.
func (s *Store) ListenSources(ctx context.Context, changed func()) {
	for ctx.Err() == nil {
		_ = s.listen(ctx, changed)
		changed()
		timer := time.NewTimer(listenPause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
	}
}

func (s *Store) listen(ctx context.Context, changed func()) error {
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	// A connection that listens is not given back to the pool.
	listener := conn.Hijack()
	defer listener.Close(context.WithoutCancel(ctx)) //nolint:errcheck // it has nothing to lose
	if _, err := listener.Exec(ctx, "LISTEN "+sourcesChannel); err != nil {
		return err
	}
	changed()
	for {
		if _, err := listener.WaitForNotification(ctx); err != nil {
			return err
		}
		changed()
	}
}
