package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

// dayLayout is how a partition's name ends.
const dayLayout = "20060102"

// bigTables are those that are partitioned by day, in the order in which a
// day of them goes: what refers to an event before the event.
var bigTables = []string{"attempts", "deliveries", "requests", "event_bodies", "events"}

// DaysBefore lists the days before a time of which at least one table of the
// big ones is left, attached or not, oldest first.
func (s *Store) DaysBefore(ctx context.Context, before time.Time) ([]time.Time, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT DISTINCT to_date(right(relname, 8), 'YYYYMMDD')
		FROM pg_class
		WHERE relkind = 'r'
		  AND relnamespace = current_schema()::regnamespace
		  AND relname ~ '_[0-9]{8}$'
		  AND left(relname, -9) = ANY ($1)
		  AND right(relname, 8) < to_char($2::date, 'YYYYMMDD')
		ORDER BY 1`, bigTables, before)
	if err != nil {
		return nil, wrap("list old days", err)
	}
	days, err := pgx.CollectRows(rows, pgx.RowTo[time.Time])
	return days, wrap("list old days", err)
}

// ExpireDay closes what is still open of a day's deliveries and returns how
// many that were for each account.
//
// The promise: nothing that is open vanishes unseen. Only open rows change, so
// doing it again changes nothing.
func (t Tx) ExpireDay(ctx context.Context, day time.Time) (map[gateway.AccountID]int, error) {
	rows, err := t.tx.Query(ctx, `
		UPDATE deliveries
		SET status = 'expired',
		    closed_at = now(),
		    next_attempt_at = NULL
		WHERE id >= $1
		  AND id < $2
		  AND (status = 'pending' OR status = 'sending')
		RETURNING account_id`,
		gateway.FirstIDAt[gateway.DeliveryID](day), gateway.FirstIDAt[gateway.DeliveryID](day.AddDate(0, 0, 1)))
	if err != nil {
		return nil, wrap("close what is open", err)
	}
	expired := map[gateway.AccountID]int{}
	var account gateway.AccountID
	_, err = pgx.ForEachRow(rows, []any{&account}, func() error {
		expired[account]++
		return nil
	})
	return expired, wrap("close what is open", err)
}

// DropDay removes a day of all big tables. Readers and writers of other days
// go on meanwhile. What an interrupted call left behind is finished.
func (s *Store) DropDay(ctx context.Context, day time.Time) error {
	for _, parent := range bigTables {
		child := parent + "_" + day.Format(dayLayout)
		if err := s.dropPartition(ctx, parent, child); err != nil {
			return fmt.Errorf("drop %s: %w", child, err)
		}
	}
	return nil
}

// dropPartition detaches first: DROP alone would lock the whole table.
func (s *Store) dropPartition(ctx context.Context, parent, child string) error {
	var attached, halfway bool
	err := s.pool.QueryRow(ctx, `
		SELECT count(*) > 0, coalesce(bool_or(inhdetachpending), false)
		FROM pg_inherits
		WHERE inhrelid = to_regclass($1)
		  AND inhparent = $2::text::regclass`, child, parent).Scan(&attached, &halfway)
	if err != nil {
		return wrap("look at the partition", err)
	}
	name := pgx.Identifier{child}.Sanitize()
	how := "CONCURRENTLY"
	if halfway {
		how = "FINALIZE"
	}
	if attached {
		if _, err := s.pool.Exec(ctx, `ALTER TABLE `+parent+` DETACH PARTITION `+name+` `+how); err != nil {
			return wrap("detach the partition", err)
		}
	}
	_, err = s.pool.Exec(ctx, `DROP TABLE IF EXISTS `+name)
	return wrap("drop the table", err)
}

// keyPartitions is how many parts event_keys has; the schema says the same.
const keyPartitions = 8

// PruneKeys forgets event keys that were seen before a time, at most limit a
// call, and returns how many. An event that comes again after that is new.
func (s *Store) PruneKeys(ctx context.Context, before time.Time, limit int) (pruned int64, err error) {
	for part := 0; part < keyPartitions && pruned < int64(limit); part++ {
		n, err := s.pruneKeys(ctx, fmt.Sprintf("event_keys_%d", part), before, int64(limit)-pruned)
		if err != nil {
			return pruned, err
		}
		pruned += n
	}
	return pruned, nil
}

// pruneKeys prunes one part. Rows are found again by where they lie, which is
// known within a part alone: a join would read all old keys for each batch.
// The limit stands apart, or the planner would hope to meet old keys soon and
// read the part from its beginning instead of asking the index whether there
// are any.
func (s *Store) pruneKeys(ctx context.Context, part string, before time.Time, limit int64) (int64, error) {
	tag, err := s.pool.Exec(ctx, `
		WITH old AS MATERIALIZED (
			SELECT ctid
			FROM `+part+`
			WHERE seen_at < $1
		)
		DELETE FROM `+part+`
		WHERE ctid = ANY (ARRAY(
			SELECT ctid
			FROM old
			LIMIT $2
		))
		  AND seen_at < $1`, before, limit)
	return tag.RowsAffected(), wrap("prune event keys", err)
}
