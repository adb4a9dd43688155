package store

import (
	"context"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
)

// Dismissal says that somebody has looked at the failures of an endpoint for
// one cause, and need not be told of them again.
type Dismissal struct {
	EndpointID gateway.EndpointID
	Cause      gateway.Cause
	// Until is when the newest failure was given up that it is about: with a
	// later one the group is open again.
	Until time.Time
	Note  string
	Actor gateway.Actor
	// ActorName is the person's or the key's name; empty when it is not known.
	ActorName string
	// At is when it was dismissed.
	At time.Time
}

// Dismiss dismisses groups of failures, each up to its Until, and returns how
// many that changed. Those of endpoints that are not there are left out.
//
// The promise: of two presses that saw the same failures one has an effect, and
// none dismisses a failure that its presser did not see. Rows are taken in the
// order of their key, so that two who dismiss several do not wait in a circle.
func (t Tx) Dismiss(ctx context.Context, account gateway.AccountID, actor gateway.Actor, note string, all []Dismissal) (int, error) {
	var c dismissed
	for _, d := range all {
		c.add(d)
	}
	tag, err := t.tx.Exec(ctx, `
		INSERT INTO dismissals (account_id, endpoint_id, error_kind, status_code, until, note, actor, dismissed_at)
		SELECT p.account_id, p.id, u.error_kind, u.status_code, u.until, $6, $7, clock_timestamp()
		FROM unnest($2::uuid[], $3::text[], $4::integer[], $5::timestamptz[]) AS u (endpoint_id, error_kind, status_code, until)
		JOIN endpoints p
		  ON p.id = u.endpoint_id
		 AND p.account_id = $1
		 AND p.deleted_at IS NULL
		ORDER BY p.id, u.error_kind, u.status_code
		ON CONFLICT (account_id, endpoint_id, error_kind, status_code) DO UPDATE
		SET until = EXCLUDED.until, note = EXCLUDED.note, actor = EXCLUDED.actor, dismissed_at = EXCLUDED.dismissed_at
		WHERE dismissals.until < EXCLUDED.until`,
		account, c.endpoints, c.kinds, c.codes, c.until, note, string(actor))
	return int(tag.RowsAffected()), wrap("dismiss failures", err)
}

// dismissed are dismissals as columns.
type dismissed struct {
	endpoints []gateway.EndpointID
	kinds     []string
	codes     []int
	until     []time.Time
}

func (c *dismissed) add(d Dismissal) {
	c.endpoints = append(c.endpoints, d.EndpointID)
	c.kinds = append(c.kinds, string(d.Cause.ErrorKind))
	c.codes = append(c.codes, d.Cause.StatusCode)
	c.until = append(c.until, d.Until)
}

// Restore opens dismissed groups again: of an endpoint, of a cause, or of one
// cause at one endpoint, where nil is each. It returns how many there were.
//
// The promise: of two presses one has an effect. Rows are taken in the order of
// their key, as Dismiss does.
func (t Tx) Restore(ctx context.Context, account gateway.AccountID, endpoint *gateway.EndpointID, cause *gateway.Cause) (int, error) {
	q := &query{}
	q.add(`
		WITH mine AS (
			SELECT account_id, endpoint_id, error_kind, status_code
			FROM dismissals
			WHERE account_id = `, account)
	if endpoint != nil {
		q.add(` AND endpoint_id = `, *endpoint)
	}
	if cause != nil {
		q.add(` AND error_kind = `, string(cause.ErrorKind))
		q.add(` AND status_code = `, cause.StatusCode)
	}
	q.put(`
			ORDER BY endpoint_id, error_kind, status_code
			FOR UPDATE
		)
		DELETE FROM dismissals d
		USING mine
		WHERE d.account_id = mine.account_id
		  AND d.endpoint_id = mine.endpoint_id
		  AND d.error_kind = mine.error_kind
		  AND d.status_code = mine.status_code`)
	tag, err := t.tx.Exec(ctx, q.sql(), q.args...)
	return int(tag.RowsAffected()), wrap("restore failures", err)
}

// PruneDismissals deletes dismissals of failures that were all given up before a
// time, and returns how many: these failures are gone.
func (s *Store) PruneDismissals(ctx context.Context, before time.Time) (int64, error) {
	tag, err := s.pool.Exec(ctx, `
		DELETE FROM dismissals
		WHERE until < $1`, before)
	return tag.RowsAffected(), wrap("prune dismissals", err)
}

// nameDismissers adds the names of those who dismissed groups.
func (s *Store) nameDismissers(ctx context.Context, account gateway.AccountID, groups []FailureGroup) error {
	var acted []gateway.AuditEntry
	for _, g := range groups {
		if g.Dismissal != nil {
			acted = append(acted, gateway.AuditEntry{Actor: g.Dismissal.Actor})
		}
	}
	if len(acted) == 0 {
		return nil
	}
	names, err := s.actorNames(ctx, account, acted)
	for _, g := range groups {
		if g.Dismissal != nil {
			g.Dismissal.ActorName = names[g.Dismissal.Actor]
		}
	}
	return err
}
