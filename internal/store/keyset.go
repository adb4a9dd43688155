package store

import (
	"context"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Keyset returns the wrapped keyset of this database, after storing candidate
// if there was none.
//
// The promise: one keyset a database, whoever starts first.
func Keyset(ctx context.Context, pool *pgxpool.Pool, candidate []byte) ([]byte, error) {
	_, err := pool.Exec(ctx, `
		INSERT INTO keyset (wrapped)
		VALUES ($1)
		ON CONFLICT (singleton) DO NOTHING`, candidate)
	if err != nil {
		return nil, wrap("store the keyset", err)
	}
	var wrapped []byte
	err = pool.QueryRow(ctx, `SELECT wrapped FROM keyset`).Scan(&wrapped)
	return wrapped, wrap("read the keyset", err)
}
