package store

import (
	"context"
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

// Expired is how many open deliveries of an account were closed.
type Expired struct {
	Deliveries int
	// Own are those of them that were of Rowlock's own events.
	Own int
}

// ExpireDay closes what is still open of a day's deliveries and returns how
// many that were for each account, and whether some are left: those that
// somebody is changing are passed over, so that nobody who sends waits for this,
// nor in a circle.
//
// The promise: nothing that is open vanishes unseen. Only open rows change, so
// doing it again changes nothing, and a day of which some are left stays.
func (t Tx) ExpireDay(ctx context.Context, day time.Time) (closed map[gateway.AccountID]Expired, left bool, err error) {
	low, high := gateway.FirstIDAt[gateway.DeliveryID](day), gateway.FirstIDAt[gateway.DeliveryID](day.AddDate(0, 0, 1))
	rows, err := t.tx.Query(ctx, `
		WITH open AS (
			SELECT id
			FROM deliveries
			WHERE id >= $1
			  AND id < $2
			  AND (status = 'pending' OR status = 'sending')
			FOR UPDATE SKIP LOCKED
		)
		UPDATE deliveries d
		SET status = 'expired',
		    closed_at = now(),
		    next_attempt_at = NULL,
		    waiting_on = NULL
		WHERE d.id = ANY (ARRAY(SELECT id FROM open))
		  AND d.id >= $1
		  AND d.id < $2
		  AND (d.status = 'pending' OR d.status = 'sending')
		RETURNING d.account_id, d.claim_id, coalesce((
			SELECT starts_with(e.type, $3)
			FROM events e
			WHERE e.id = d.event_id
			  AND e.id >= $1
			  AND e.id < $2), false)`,
		low, high, gateway.OwnTypePrefix)
	if err != nil {
		return nil, false, wrap("close what is open", err)
	}
	closed, claims, err := collectExpired(rows)
	if err != nil {
		return nil, false, wrap("close what is open", err)
	}
	err = t.tx.QueryRow(ctx, `
		SELECT EXISTS (
			SELECT
			FROM deliveries
			WHERE id >= $1
			  AND id < $2
			  AND (status = 'pending' OR status = 'sending'))`, low, high).Scan(&left)
	if err != nil {
		return nil, false, wrap("look what is left open", err)
	}
	return closed, left, t.passTurnsOf(ctx, claims)
}

// collectExpired adds up what was closed, and names the claims of it.
func collectExpired(rows pgx.Rows) (closed map[gateway.AccountID]Expired, claims []gateway.ClaimID, err error) {
	closed = map[gateway.AccountID]Expired{}
	var account gateway.AccountID
	var own bool
	var claim *gateway.ClaimID
	_, err = pgx.ForEachRow(rows, []any{&account, &claim, &own}, func() error {
		if claim != nil {
			claims = append(claims, *claim)
		}
		e := closed[account]
		e.Deliveries++
		if own {
			e.Own++
		}
		closed[account] = e
		return nil
	})
	return closed, claims, err
}

// NoticeKind says what an account is told of a day.
type NoticeKind string

const (
	// NoticeWarning tells that the day goes soon.
	NoticeWarning NoticeKind = "warning"
	// NoticeExpiry tells that the day goes now.
	NoticeExpiry NoticeKind = "expiry"
)

// Notice is what of a day is still open in an account: deliveries, and events
// that are held or wait to be decided.
type Notice struct {
	AccountID                  gateway.AccountID
	Deliveries, Held, Accepted int
}

// NoteOpen returns the accounts that have something open of a day and were not
// told so yet, with how much that is, and notes that they are.
//
// The promise: an account is told once of each kind, whoever asks, however
// often. Accounts come in order, so that none waits for another in a circle.
func (t Tx) NoteOpen(ctx context.Context, day time.Time, kind NoticeKind) ([]Notice, error) {
	low, high := gateway.FirstIDAt[gateway.EventID](day), gateway.FirstIDAt[gateway.EventID](day.AddDate(0, 0, 1))
	rows, err := t.tx.Query(ctx, `
		INSERT INTO retention_notices (account_id, day, kind, deliveries, held, accepted)
		SELECT a.id, @day, @kind, d.pending + d.sending, e.held, e.accepted
		FROM accounts a
		CROSS JOIN LATERAL (
			SELECT coalesce(sum(`+countOpen("pending")+`), 0) AS pending,
			       coalesce(sum(`+countOpen("sending")+`), 0) AS sending
			FROM endpoints p
			WHERE p.account_id = a.id
		) d
		CROSS JOIN LATERAL (
			SELECT count(*) FILTER (WHERE status = 'held') AS held,
			       count(*) FILTER (WHERE status = 'accepted') AS accepted
			FROM events
			WHERE account_id = a.id
			  AND status IN ('held', 'accepted')
			  AND status <> 'processed'
			  AND id >= @low
			  AND id < @high
		) e
		WHERE d.pending + d.sending + e.held + e.accepted > 0
		  AND NOT EXISTS (
			SELECT
			FROM retention_notices
			WHERE day = @day
			  AND account_id = a.id
			  AND kind = @kind)
		ORDER BY a.id
		ON CONFLICT DO NOTHING
		RETURNING account_id, deliveries, held, accepted`,
		pgx.NamedArgs{"day": day, "kind": string(kind), "low": low, "high": high})
	if err != nil {
		return nil, wrap("note what is open", err)
	}
	notices, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Notice])
	return notices, wrap("note what is open", err)
}

// countOpen counts a day's deliveries of endpoint p in a status, which is a
// literal: a generic plan can use its partial index.
func countOpen(status string) string {
	return `(
				SELECT count(*)
				FROM deliveries
				WHERE endpoint_id = p.id
				  AND status = '` + status + `'
				  AND id >= @low
				  AND id < @high)`
}

// DropDay removes a day of all big tables. Readers and writers of other days
// go on meanwhile. First no list has the day any more, which takes a moment; then
// its files are removed, which takes as long as the disk does. What an interrupted
// call left behind is finished.
func (s *Store) DropDay(ctx context.Context, day time.Time) error {
	for _, parent := range bigTables {
		if err := s.detachPartition(ctx, parent, partitionOf(parent, day)); err != nil {
			return err
		}
	}
	for _, parent := range bigTables {
		child := partitionOf(parent, day)
		if _, err := s.pool.Exec(ctx, `DROP TABLE IF EXISTS `+pgx.Identifier{child}.Sanitize()); err != nil {
			return wrap("drop "+child, err)
		}
	}
	_, err := s.pool.Exec(ctx, `DELETE FROM retention_notices WHERE day = $1`, day)
	return wrap("forget what was told of the day", err)
}

// partitionOf names the table that holds a day of a big one.
func partitionOf(parent string, day time.Time) string { return parent + "_" + day.Format(dayLayout) }

// detachPartition takes a day's table out of the whole: to drop it there would lock
// the whole.
func (s *Store) detachPartition(ctx context.Context, parent, child string) error {
	var attached, halfway bool
	err := s.pool.QueryRow(ctx, `
		SELECT count(*) > 0, coalesce(bool_or(inhdetachpending), false)
		FROM pg_inherits
		WHERE inhrelid = to_regclass($1)
		  AND inhparent = $2::text::regclass`, child, parent).Scan(&attached, &halfway)
	if err != nil || !attached {
		return wrap("look at "+child, err)
	}
	how := "CONCURRENTLY"
	if halfway {
		how = "FINALIZE"
	}
	_, err = s.pool.Exec(ctx, `ALTER TABLE `+parent+` DETACH PARTITION `+pgx.Identifier{child}.Sanitize()+` `+how)
	return wrap("detach "+child, err)
}
