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
	err := s.pool.QueryRow(ctx, hasPartitions(`$1::date`), day.UTC()).Scan(&all)
	return all, wrap("look for partitions", err)
}
