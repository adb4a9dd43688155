package store

import (
	"context"

	"github.com/rowlock/rowlock/internal/gateway"
)

// Firsts tells which of the first steps an account has taken.
type Firsts struct {
	// Source is one of its own: the built-in one does not count.
	Source, Endpoint bool
	// Event came in, Delivered was confirmed by a receiver, tests included.
	Event, Delivered bool
}

// Firsts looks which of the first steps an account has taken. A confirmed
// delivery is looked for among the newest, and where all are counted, since an
// account may have many that failed.
func (s *Store) Firsts(ctx context.Context, account gateway.AccountID) (f Firsts, err error) {
	err = s.pool.QueryRow(ctx, `
		SELECT EXISTS (SELECT FROM sources WHERE account_id = $1 AND kind <> 'api' AND deleted_at IS NULL),
		       EXISTS (SELECT FROM endpoints WHERE account_id = $1 AND deleted_at IS NULL),
		       EXISTS (SELECT FROM events WHERE account_id = $1 AND `+notAhead+`),
		       EXISTS (
				SELECT
				FROM rollups
				WHERE account_id = $1
				  AND span = 120
				  AND succeeded > 0
		       ) OR EXISTS (
				SELECT
				FROM (
					SELECT status
					FROM deliveries
					WHERE account_id = $1
					  AND `+notAhead+`
					ORDER BY id DESC
					LIMIT 100
				) newest
				WHERE status = 'delivered'
		       )`, account).Scan(&f.Source, &f.Endpoint, &f.Event, &f.Delivered)
	return f, wrap("look for the first steps", err)
}
