package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// MaxJobCount is how many jobs of one state are counted at the most.
const MaxJobCount = 10_000

// JobCount is how many jobs of a kind are in a state.
type JobCount struct {
	Queue, Kind, State string
	Jobs               int
	// Oldest is the earliest time that one of them was to run.
	Oldest time.Time
}

// JobCounts counts the queue's jobs, up to MaxJobCount a state.
func (s *Store) JobCounts(ctx context.Context) ([]JobCount, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT j.queue, j.kind, s.state::text, count(*), min(j.scheduled_at)
		FROM unnest(enum_range(NULL::river_job_state)) AS s (state)
		CROSS JOIN LATERAL (
			SELECT queue, kind, scheduled_at
			FROM river_job
			WHERE state = s.state
			LIMIT $1
		) j
		GROUP BY j.queue, j.kind, s.state
		ORDER BY j.queue, j.kind, s.state`, MaxJobCount)
	if err != nil {
		return nil, wrap("count jobs", err)
	}
	counts, err := pgx.CollectRows(rows, pgx.RowToStructByPos[JobCount])
	return counts, wrap("count jobs", err)
}
