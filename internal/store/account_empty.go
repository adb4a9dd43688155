package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

// LeavingAccount is an account whose time of grace is over.
type LeavingAccount struct {
	ID gateway.AccountID
	// GoneAt is when it was taken from its members; nil: it is still to be.
	GoneAt *time.Time
}

// LeavingAccounts lists accounts whose time of grace is over and of which
// something is left, those first whose time came first.
func (s *Store) LeavingAccounts(ctx context.Context, limit int) ([]LeavingAccount, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT id, gone_at
		FROM accounts
		WHERE delete_at <= now()
		  AND emptied_at IS NULL
		ORDER BY delete_at
		LIMIT $1`, limit)
	if err != nil {
		return nil, wrap("list leaving accounts", err)
	}
	leaving, err := pgx.CollectRows(rows, pgx.RowToStructByName[LeavingAccount])
	return leaving, wrap("list leaving accounts", err)
}

// TakeAway takes an account whose time of grace is over from everybody: members,
// invitations, keys and sources end. Its rows go afterwards. It tells whether it
// did: not when it was done before, or restored at the last moment.
//
// The promise: see RestoreAccount.
func (t Tx) TakeAway(ctx context.Context, account gateway.AccountID) (bool, error) {
	if err := t.lockAccount(ctx, account); err != nil {
		return false, err
	}
	tag, err := t.tx.Exec(ctx, `
		UPDATE accounts
		SET gone_at = now()
		WHERE id = $1
		  AND delete_at <= now()
		  AND gone_at IS NULL`, account)
	if err != nil || tag.RowsAffected() == 0 {
		return false, wrap("take account away", err)
	}
	batch := &pgx.Batch{}
	batch.Queue(`DELETE FROM members WHERE account_id = $1`, account)
	batch.Queue(`UPDATE invitations SET revoked_at = now() WHERE account_id = $1 AND used_by IS NULL AND revoked_at IS NULL`, account)
	batch.Queue(`UPDATE api_keys SET ends_at = now() WHERE account_id = $1 AND (ends_at IS NULL OR ends_at > now())`, account)
	batch.Queue(`UPDATE sources SET deleted_at = now() WHERE account_id = $1 AND deleted_at IS NULL`, account)
	batch.Queue(`UPDATE endpoints SET failover_id = NULL WHERE account_id = $1 AND failover_id IS NOT NULL`, account)
	return true, wrap("take account away", t.tx.SendBatch(ctx, batch).Close())
}

// EmptyDay deletes some of an account's rows of a day of the big tables, of
// events and of deliveries limit each, with what hangs on them, and of requests.
// It returns how many these were; fewer than limit: none of their kind is left.
// Rows are found again by where they lie, in a day of their own, from the last
// of the batch before on: what was deleted stands in the index until a vacuum.
func (s *Store) EmptyDay(ctx context.Context, account gateway.AccountID, day time.Time, after DayEnds, limit int) (left DayEnds, more bool, err error) {
	suffix := "_" + day.Format(dayLayout)
	left = after
	deliveries, err := s.emptyDayOf(ctx, &left.Delivery, account, limit, `
		WITH gone AS (
			DELETE FROM deliveries`+suffix+`
			WHERE ctid = ANY (ARRAY(
				SELECT ctid
				FROM deliveries`+suffix+`
				WHERE account_id = $1
				  AND id > $2
				ORDER BY id
				LIMIT $3
			))
			  AND account_id = $1
			RETURNING id
		), attempts AS (
			DELETE FROM attempts`+suffix+`
			WHERE delivery_id = ANY (ARRAY(SELECT id FROM gone))
		)
		SELECT count(*), coalesce((SELECT id FROM gone ORDER BY id DESC LIMIT 1), $2)
		FROM gone`)
	if err != nil {
		return left, false, wrap("empty a day of deliveries", err)
	}
	events, err := s.emptyDayOf(ctx, &left.Event, account, limit, `
		WITH gone AS (
			DELETE FROM events`+suffix+`
			WHERE ctid = ANY (ARRAY(
				SELECT ctid
				FROM events`+suffix+`
				WHERE account_id = $1
				  AND id > $2
				ORDER BY id
				LIMIT $3
			))
			  AND account_id = $1
			RETURNING id, request_id
		), bodies AS (
			DELETE FROM event_bodies`+suffix+`
			WHERE id = ANY (ARRAY(SELECT id FROM gone UNION ALL SELECT request_id FROM gone))
		)
		SELECT count(*), coalesce((SELECT id FROM gone ORDER BY id DESC LIMIT 1), $2)
		FROM gone`)
	if err != nil {
		return left, false, wrap("empty a day of events", err)
	}
	tag, err := s.pool.Exec(ctx, `
		DELETE FROM requests`+suffix+`
		WHERE ctid = ANY (ARRAY(
			SELECT r.ctid
			FROM sources s
			CROSS JOIN LATERAL (
				SELECT ctid
				FROM requests`+suffix+`
				WHERE source_id = s.id
				ORDER BY id
				LIMIT $2
			) r
			WHERE s.account_id = $1
			LIMIT $2
		))
		  AND account_id = $1`, account, limit)
	if err != nil {
		return left, false, wrap("empty a day of requests", err)
	}
	return left, deliveries == limit || events == limit || int(tag.RowsAffected()) == limit, nil
}

// DayEnds are the last of a day's rows that were deleted.
type DayEnds struct {
	Delivery gateway.DeliveryID
	Event    gateway.EventID
}

// emptyDayOf deletes a batch and moves on to its last id.
func (s *Store) emptyDayOf(ctx context.Context, last any, account gateway.AccountID, limit int, sql string) (deleted int, err error) {
	err = s.pool.QueryRow(ctx, sql, account, last, limit).Scan(&deleted, last)
	return deleted, err
}

// accountTable is a table whose rows go with their account.
type accountTable struct {
	name string
	// order is how its index by account goes on, so that a large table is read by
	// it; empty for small ones.
	order string
	// parent is the table by which they are found that have no index of the
	// account, and key the column that names its rows; empty: they have one.
	parent, key string
}

// inOrder has the rows read in their index's order.
func (t accountTable) inOrder() string {
	if t.order == "" {
		return ""
	}
	return `
			ORDER BY ` + t.order
}

// accountTables are all tables of an account but the big ones,
// what refers to others before these.
var accountTables = func() []accountTable {
	var all []accountTable
	for part := range KeyPartitions {
		all = append(all, accountTable{name: fmt.Sprintf("event_keys_%d", part), order: "key_hash"})
	}
	return append(all,
		accountTable{name: "facts", order: "id"},
		accountTable{name: "claim_holds", parent: "claims", key: "claim_id"},
		accountTable{name: "claims", order: "id"},
		accountTable{name: "rollups", order: "span, minute"},
		accountTable{name: "usage", order: "hour"},
		accountTable{name: "type_counts", order: "hour, type"},
		accountTable{name: "reconciliation_rows", parent: "reconciliations", key: "reconciliation_id"},
		accountTable{name: "reconciliation_missing", parent: "reconciliations", key: "reconciliation_id"},
		accountTable{name: "reconciliation_faults", parent: "reconciliations", key: "reconciliation_id"},
		accountTable{name: "reconciliations"},
		accountTable{name: "operations", order: "id"},
		accountTable{name: "alerts"},
		accountTable{name: "alert_channels"},
		accountTable{name: "failure_digests"},
		accountTable{name: "dismissals"},
		accountTable{name: "event_types"},
		accountTable{name: "retention_notices"},
		accountTable{name: "lanes", parent: "endpoints", key: "endpoint_id"},
		accountTable{name: "listeners", parent: "endpoints", key: "endpoint_id"},
		accountTable{name: "relays", parent: "endpoints", key: "endpoint_id"},
		accountTable{name: "endpoint_secrets", parent: "endpoints", key: "endpoint_id"},
		accountTable{name: "endpoints"},
		accountTable{name: "source_secrets", parent: "sources", key: "source_id"},
		accountTable{name: "sources"},
		accountTable{name: "api_keys"},
		accountTable{name: "invitations"},
		accountTable{name: "alert_choices"},
		accountTable{name: "members"},
		// Last: it tells of the deletion until that is over.
		accountTable{name: "audit_log", order: "id"},
	)
}()

// AccountTables is how many tables EmptyTable knows.
var AccountTables = len(accountTables)

// EmptyTable deletes some of an account's rows of one of its tables (from 0 to
// AccountTables-1, in this order), at most limit a call, and returns how many.
func (s *Store) EmptyTable(ctx context.Context, account gateway.AccountID, table, limit int) (int64, error) {
	t := accountTables[table]
	rows := `
			SELECT ctid
			FROM ` + t.name + `
			WHERE account_id = $1` + t.inOrder() + `
			LIMIT $2`
	guard := `
		  AND account_id = $1`
	if t.parent != "" {
		rows = `
			SELECT r.ctid
			FROM ` + t.parent + ` p
			CROSS JOIN LATERAL (
				SELECT ctid
				FROM ` + t.name + `
				WHERE ` + t.key + ` = p.id
				LIMIT $2
			) r
			WHERE p.account_id = $1
			LIMIT $2`
		guard = `
		  AND ` + t.key + ` IN (SELECT id FROM ` + t.parent + ` WHERE account_id = $1)`
	}
	tag, err := s.pool.Exec(ctx, `
		DELETE FROM `+t.name+`
		WHERE ctid = ANY (ARRAY(`+rows+`
		))`+guard, account, limit)
	return tag.RowsAffected(), wrap("empty "+t.name, err)
}

// CloseEmptied notes that nothing is left of an account: its
// name goes too, and others can have its slug. It tells whether it did.
func (t Tx) CloseEmptied(ctx context.Context, account gateway.AccountID) (bool, error) {
	tag, err := t.tx.Exec(ctx, `
		UPDATE accounts
		SET emptied_at = now(), name = 'Deleted account', slug = 'deleted-' || id
		WHERE id = $1
		  AND gone_at IS NOT NULL
		  AND emptied_at IS NULL`, account)
	return tag.RowsAffected() == 1, wrap("note that an account is empty", err)
}
