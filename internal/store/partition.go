package store

import (
	"context"
	"time"
)

// MakePartitions makes the days (of UTC) that are missing, from first to last,
// and returns how many tables it made. It waits while another node does the same.
func (s *Store) MakePartitions(ctx context.Context, first, last time.Time) (int, error) {
	var made int
	err := s.pool.QueryRow(ctx, `SELECT make_partitions($1::date, $2::date)`, first.UTC(), last.UTC()).Scan(&made)
	return made, wrap("make partitions", err)
}

// HasPartitions tells whether every big table has a partition for a day of UTC.
func (s *Store) HasPartitions(ctx context.Context, day time.Time) (bool, error) {
	var all bool
	err := s.pool.QueryRow(ctx, `
		SELECT bool_and(to_regclass(parent || '_' || to_char($1::date, 'YYYYMMDD')) IS NOT NULL)
		FROM unnest(ARRAY['events', 'event_bodies', 'requests', 'deliveries', 'attempts']) AS parent`, day.UTC()).Scan(&all)
	return all, wrap("look for partitions", err)
}
