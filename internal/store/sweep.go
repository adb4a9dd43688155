package store

import "context"

// sweepLock is the advisory lock of the node that sweeps. Its value is
// arbitrary and must never change.
const sweepLock = 0x7377656570 // "sweep"

// TrySweepLock takes the sweep for this transaction; false means that another
// node is at it.
func (t Tx) TrySweepLock(ctx context.Context) (bool, error) {
	var mine bool
	err := t.tx.QueryRow(ctx, `SELECT pg_try_advisory_xact_lock($1)`, int64(sweepLock)).Scan(&mine)
	return mine, wrap("try the sweep lock", err)
}
