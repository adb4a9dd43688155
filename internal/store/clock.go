package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Pool is a pool that Connect opened, for those who may not know the driver.
type Pool = *pgxpool.Pool

// Now is the database's clock, which decides leases, retries and tolerance.
func (s *Store) Now(ctx context.Context) (time.Time, error) { return ServerTime(ctx, s.pool) }

// ServerTime is the database's clock, before there is a Store.
func ServerTime(ctx context.Context, pool Pool) (time.Time, error) {
	var now time.Time
	err := pool.QueryRow(ctx, `SELECT clock_timestamp()`).Scan(&now)
	return now.UTC(), wrap("read the database's clock", err)
}

// ServerVersion is the server's version as a number: 150018 is 15.18.
func ServerVersion(ctx context.Context, pool Pool) (int, error) {
	var number int
	err := pool.QueryRow(ctx, `SELECT current_setting('server_version_num')::int`).Scan(&number)
	return number, wrap("read the server's version", err)
}
