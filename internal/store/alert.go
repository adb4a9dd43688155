package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

// Alert is what members are still to be told: the type and the data of the own
// event that tells programs the same.
type Alert struct {
	ID        gateway.AlertID
	AccountID gateway.AccountID
	Type      string
	Data      []byte
}

// AddAlert has members told of something, in the transaction that earned it.
func (t Tx) AddAlert(ctx context.Context, account gateway.AccountID, a Alert) error {
	_, err := t.tx.Exec(ctx, `
		INSERT INTO alerts (id, account_id, type, data)
		VALUES ($1, $2, $3, $4)`, a.ID, account, a.Type, a.Data)
	return wrap("add alert", err)
}

// Alerts lists of all accounts what members are still to be told, oldest
// first.
func (s *Store) Alerts(ctx context.Context, limit int) ([]gateway.AlertID, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT id
		FROM alerts
		ORDER BY id
		LIMIT $1`, limit)
	if err != nil {
		return nil, wrap("list alerts", err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[gateway.AlertID])
	return ids, wrap("list alerts", err)
}

// TakeAlert takes an alert, for its mails to be written in this transaction.
// One that is taken already is gateway.ErrNotFound.
//
// The promise: members are told once. Who comes second waits for the row, and
// finds that it is gone; if the first one fails, it is there again.
func (t Tx) TakeAlert(ctx context.Context, id gateway.AlertID) (Alert, error) {
	rows, err := t.tx.Query(ctx, `
		DELETE FROM alerts
		WHERE id = $1
		RETURNING id, account_id, type, data`, id)
	if err != nil {
		return Alert{}, wrap("take alert", err)
	}
	a, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[Alert])
	return a, wrap("take alert", err)
}

// PruneAlerts forgets alerts that could not be told for longer than an age, and
// when endpoints were told of that long ago.
func (s *Store) PruneAlerts(ctx context.Context, age time.Duration) error {
	if _, err := s.pool.Exec(ctx, `DELETE FROM alerts WHERE created_at < now() - $1::interval`, age); err != nil {
		return wrap("prune alerts", err)
	}
	_, err := s.pool.Exec(ctx, `
		DELETE FROM failure_digests
		WHERE due_at IS NULL
		  AND told_at < now() - $1::interval`, age)
	return wrap("prune alerts", err)
}

// Recipients are the mail addresses of an account's members who want to be
// told of a kind: those who chose so, and of those who did not choose, if it is
// told by default, those who may do something about it.
func (t Tx) Recipients(ctx context.Context, account gateway.AccountID, kind gateway.AlertKind) ([]string, error) {
	rows, err := t.tx.Query(ctx, `
		SELECT u.email
		FROM members m
		JOIN users u
		  ON u.id = m.user_id
		LEFT JOIN alert_choices c
		  ON c.account_id = m.account_id
		 AND c.user_id = m.user_id
		 AND c.kind = $2
		WHERE m.account_id = $1
		  AND coalesce(c.wanted, $3 AND m.role = ANY ($4))
		ORDER BY m.user_id`, account, string(kind), kind.ByDefault(), texts(kind.Concerns().Holders()))
	if err != nil {
		return nil, wrap("list recipients", err)
	}
	addresses, err := pgx.CollectRows(rows, pgx.RowTo[string])
	return addresses, wrap("list recipients", err)
}

// AlertChoices are what a member chose to be told; a kind that they did not
// choose about is not in it.
func (s *Store) AlertChoices(ctx context.Context, account gateway.AccountID, user gateway.UserID) (map[gateway.AlertKind]bool, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT kind, wanted
		FROM alert_choices
		WHERE account_id = $1
		  AND user_id = $2`, account, user)
	if err != nil {
		return nil, wrap("read choices", err)
	}
	choices := map[gateway.AlertKind]bool{}
	var kind gateway.AlertKind
	var wanted bool
	_, err = pgx.ForEachRow(rows, []any{&kind, &wanted}, func() error {
		choices[kind] = wanted
		return nil
	})
	return choices, wrap("read choices", err)
}

// ChooseAlerts keeps what a member wants to be told, of each kind that is
// named, and returns how many choices are other ones than before. Who is no
// member gets gateway.ErrNotFound.
//
// The promise: of two choices at once one stands as a whole or changes nothing;
// kinds come in order, so that neither waits for the other in a circle.
func (t Tx) ChooseAlerts(ctx context.Context, account gateway.AccountID, user gateway.UserID, kinds []gateway.AlertKind, wanted []bool) (changed int64, err error) {
	var member bool
	err = t.tx.QueryRow(ctx, `
		SELECT true
		FROM members
		WHERE account_id = $1
		  AND user_id = $2
		FOR UPDATE`, account, user).Scan(&member)
	if err != nil {
		return 0, wrap("lock member", err)
	}
	tag, err := t.tx.Exec(ctx, `
		INSERT INTO alert_choices (account_id, user_id, kind, wanted)
		SELECT $1, $2, u.kind, u.wanted
		FROM unnest($3::text[], $4::boolean[]) AS u (kind, wanted)
		ON CONFLICT (account_id, user_id, kind) DO UPDATE
		SET wanted = EXCLUDED.wanted
		WHERE alert_choices.wanted <> EXCLUDED.wanted`, account, user, kinds, wanted)
	return tag.RowsAffected(), wrap("keep choices", err)
}

// Scene is what a mail says besides what happened.
type Scene struct {
	// Account has its name and slug alone.
	Account  gateway.Account
	Endpoint EndpointLabel
	// FailsOver tells that the endpoint has a failover.
	FailsOver bool
	// Waiting is how many of the endpoint's deliveries are pending, up to
	// MaxWaitingCounted: that many may be more.
	Waiting int
}

// Scene reads an account, and of it an endpoint, if one is given; one that is
// not there is told as deleted.
func (t Tx) Scene(ctx context.Context, account gateway.AccountID, endpoint *gateway.EndpointID) (sc Scene, err error) {
	err = t.tx.QueryRow(ctx, `
		SELECT a.id, a.name, a.slug, coalesce(p.url, ''), coalesce(p.description, ''), coalesce(p.state, ''),
		       p.id IS NULL OR p.deleted_at IS NOT NULL, p.failover_id IS NOT NULL, w.n
		FROM accounts a
		LEFT JOIN endpoints p
		  ON p.id = $2
		 AND p.account_id = a.id
		CROSS JOIN LATERAL (
			SELECT count(*) AS n
			FROM (`+pendingOfEndpoint+`
				LIMIT $3
			) counted
		) w
		WHERE a.id = $1`, account, endpoint, MaxWaitingCounted).Scan(
		&sc.Account.ID, &sc.Account.Name, &sc.Account.Slug, &sc.Endpoint.URL, &sc.Endpoint.Description, &sc.Endpoint.State,
		&sc.Endpoint.Deleted, &sc.FailsOver, &sc.Waiting)
	return sc, wrap("read what a mail says", err)
}
