package migrate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// LockWait is how long a statement of a migration waits for a table that somebody
// holds. Whoever wants the table after it waits behind it, reads and writes alike:
// it gives up soon, lets them pass, and comes again.
const LockWait = 500 * time.Millisecond

// betweenTraffic is how a migration looks for a moment in which it gets its tables.
var betweenTraffic = patience{pause: time.Second, limit: 5 * time.Minute}

// patience is for how long, and how often, something is tried again that did not
// get its locks.
type patience struct{ pause, limit time.Duration }

// run does something until it gets its locks. What it had done is undone in
// between, or can be done again.
func (p patience) run(ctx context.Context, do func() error) error {
	end := time.Now().Add(p.limit)
	for {
		err := do()
		if err == nil || !lacksLock(err) {
			return err
		}
		if time.Now().After(end) {
			return fmt.Errorf("a table is held by a long transaction: end it (pg_stat_activity has it) and begin again; what was applied stays: %w", err)
		}
		select {
		case <-time.After(p.pause):
		case <-ctx.Done():
			return fmt.Errorf("wait for a table: %w", errors.Join(ctx.Err(), err))
		}
	}
}

// lacksLock tells of an error that says nothing about the statement: another one
// had what it needed.
func lacksLock(err error) bool {
	const lockNotAvailable, deadlockDetected = "55P03", "40P01"
	told, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (told.Code == lockNotAvailable || told.Code == deadlockDetected)
}
