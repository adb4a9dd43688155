package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

// Whoever changes who gets what an endpoint cannot be given locks the account
// first, so that the account's chains change one after the other; then, as
// always, lanes before endpoints. Of the endpoints of a chain those in front
// are locked before those that they fail over to, as sending does.

// LockChains makes other changes of the account's chains wait until this
// transaction ends.
func (t Tx) LockChains(ctx context.Context, account gateway.AccountID) error {
	return t.lockAccount(ctx, account)
}

// CheckFailover tells whether an endpoint, which may be one that is not made
// yet, can fail over to next. gateway.InvalidError says why not: there is no
// such endpoint in the account, it would make a loop, or the chain would be
// longer than gateway.MaxFailoverDepth, counting those that lead to it.
//
// The promise: chains end. The caller holds the account's lock (LockChains), so
// that what is found here is so until its transaction ends: of two changes that
// together would make a loop the second finds the first.
func (t Tx) CheckFailover(ctx context.Context, account gateway.AccountID, id, next gateway.EndpointID) error {
	rows, err := t.tx.Query(ctx, `
		WITH RECURSIVE ahead AS (
			SELECT id, failover_id, 1 AS n
			FROM endpoints
			WHERE id = $3
			  AND account_id = $1
			  AND deleted_at IS NULL
			UNION ALL
			SELECT p.id, p.failover_id, a.n + 1
			FROM ahead a
			JOIN endpoints p
			  ON p.id = a.failover_id
			 AND p.account_id = $1
			 AND p.deleted_at IS NULL
			WHERE a.id <> $2
			  AND a.n <= $4
		), behind AS (
			SELECT $2::uuid AS id, 1 AS n
			UNION ALL
			SELECT p.id, b.n + 1
			FROM behind b
			JOIN endpoints p
			  ON p.failover_id = b.id
			 AND p.account_id = $1
			 AND p.deleted_at IS NULL
			WHERE b.n <= $4
		)
		SELECT p.id, p.uid, p.description, p.url, (SELECT max(n) FROM behind)
		FROM ahead a
		JOIN endpoints p
		  ON p.id = a.id
		ORDER BY a.n`, account, id, next, gateway.MaxFailoverDepth)
	if err != nil {
		return wrap("follow the failover chain", err)
	}
	links, err := pgx.CollectRows(rows, scanLink)
	if err != nil {
		return wrap("follow the failover chain", err)
	}
	return gateway.CheckChain(links, id)
}

func scanLink(row pgx.CollectableRow) (l gateway.ChainLink, err error) {
	var uid *string
	var description, address string
	err = row.Scan(&l.ID, &uid, &description, &address, &l.Behind)
	l.Name = gateway.ChainName(uid, description, address)
	return l, err
}

// Bridge takes an endpoint that is to be deleted out of its chain: those that
// fail over to it fail over to its next from now on, or to nobody. It returns
// them. The deletion follows in the same transaction.
//
// The promise: nothing fails over to a deleted endpoint. The account's lock
// keeps anybody from joining the chain meanwhile; those who are giving it
// something now hold the row of who comes before, for which this waits.
func (t Tx) Bridge(ctx context.Context, account gateway.AccountID, id gateway.EndpointID) ([]gateway.EndpointID, error) {
	if err := t.lockAccount(ctx, account); err != nil {
		return nil, err
	}
	if _, err := t.tx.Exec(ctx, `
		SELECT
		FROM lanes
		WHERE endpoint_id = $1
		  AND account_id = $2
		FOR NO KEY UPDATE`, id, account); err != nil {
		return nil, wrap("lock lane", err)
	}
	rows, err := t.tx.Query(ctx, `
		UPDATE endpoints p
		SET failover_id = gone.failover_id, updated_at = now()
		FROM endpoints gone
		WHERE gone.id = $1
		  AND gone.account_id = $2
		  AND p.account_id = $2
		  AND p.deleted_at IS NULL
		  AND p.failover_id = $1
		RETURNING p.id`, id, account)
	if err != nil {
		return nil, wrap("bridge the failover chain", err)
	}
	bridged, err := pgx.CollectRows(rows, pgx.RowTo[gateway.EndpointID])
	return bridged, wrap("bridge the failover chain", err)
}
