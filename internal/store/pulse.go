package store

import (
	"context"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
)

// MaxNewEvents is up to where a pulse counts new events.
const MaxNewEvents = 100

// Pulse tells whether something happened since a page was read: hints, which
// nothing depends on.
type Pulse struct {
	// Events is how many came after an event, up to MaxNewEvents.
	Events int
	// Attempts is how many were recorded in the minutes that were asked for:
	// when it has grown, there are new ones.
	Attempts int64
}

// Pulse counts the events after one, and the attempts that were recorded since
// the beginning of a time's minute, of the whole account or to one endpoint. It
// is asked every second, by every page that is open, and reads few rows of two
// indexes.
func (s *Store) Pulse(ctx context.Context, account gateway.AccountID, after gateway.EventID, since time.Time, endpoint *gateway.EndpointID) (p Pulse, err error) {
	err = s.pool.QueryRow(ctx, `
		SELECT (
			SELECT count(*)
			FROM (
				SELECT
				FROM events
				WHERE account_id = $1
				  AND id > $2
				  AND `+notAhead+`
				LIMIT $4
			) e
		), (
			SELECT coalesce(sum(succeeded + rejected + unreachable + unknown), 0)::bigint
			FROM rollups
			WHERE account_id = $1
			  AND span = 1
			  AND minute >= date_trunc('minute', $3::timestamptz)
			  AND ($5::uuid IS NULL OR endpoint_id = $5)
		)`, account, after, since, MaxNewEvents, endpoint).Scan(&p.Events, &p.Attempts)
	return p, wrap("feel the pulse", err)
}
