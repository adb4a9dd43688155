package app

import (
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/rowlock/rowlock/internal/deliver"
	"github.com/rowlock/rowlock/internal/metrics"
)

// meterOf has what the sending of deliveries tells counted.
func meterOf(m *metrics.Metrics) deliver.Meter {
	return deliver.Meter{
		Attempted: m.Attempted,
		Lost:      m.Lost,
		Recorded:  func(results int, took time.Duration) { m.Committed(metrics.Record, results, took) },
	}
}

// watch adds what is asked for when somebody scrapes.
func (v *services) watch(o ServeOptions, pool *pgxpool.Pool) {
	metrics.WatchSending(v.metrics, o.Config.Workers, func() metrics.Sending {
		busy := v.deliver.Busy()
		return metrics.Sending(busy)
	})
	metrics.WatchPool(v.metrics, func() metrics.Pool {
		s := pool.Stat()
		return metrics.Pool{
			Acquired: s.AcquiredConns(), Idle: s.IdleConns(), Max: s.MaxConns(),
			Acquires: s.AcquireCount(), Waits: s.EmptyAcquireCount(), Waited: s.EmptyAcquireWaitTime(),
		}
	})
	metrics.WatchStanding(v.metrics, o.Log, v.clock.Now, v.store.Standing)
}
