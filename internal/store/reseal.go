package store

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/secret"
)

// Sealed names a column whose values are sealed, for Reseal.
type Sealed struct {
	// Name is what the values are, in the plural, for people.
	Name string

	// table has an id, and the column holds what is sealed, or nothing.
	table, column string
	// first and second are columns that a value is bound to besides its id.
	first, second string
	// bound makes of the three what the value was sealed with.
	bound func(id, first, second [16]byte) []byte
}

// SealedColumns are all columns that hold sealed values. A test compares them
// with the schema.
var SealedColumns = []Sealed{
	{
		Name: "endpoint secrets", table: "endpoint_secrets", column: "sealed", first: "account_id", second: "endpoint_id",
		bound: func(id, account, endpoint [16]byte) []byte {
			return endpointSecrets(account, endpoint).context(id)
		},
	},
	{
		Name: "authorizations", table: "endpoints", column: "auth_sealed", first: "account_id", second: "id",
		bound: func(id, account, _ [16]byte) []byte { return authContext(account, id) },
	},
	{
		Name: "source secrets", table: "source_secrets", column: "sealed", first: "account_id", second: "source_id",
		bound: func(id, account, source [16]byte) []byte {
			return sourceSecrets(account, source).context(id)
		},
	},
	{
		Name: "mails", table: "mails", column: "body", first: "id", second: "id",
		bound: func(id, _, _ [16]byte) []byte { return mailContext(id) },
	},
	{
		Name: "alert channels", table: "alert_channels", column: "sealed", first: "account_id", second: "account_id",
		bound: func(_, account, _ [16]byte) []byte { return channelContext(account) },
	},
	{
		Name: "keys of two-step log-in", table: "users", column: "step_key", first: "id", second: "id",
		bound: func(id, _, _ [16]byte) []byte { return stepKeyContext(id) },
	},
	{
		Name: "messages for browsers", table: "sessions", column: "flash", first: "user_id", second: "id",
		bound: func(id, user, _ [16]byte) []byte { return flashContext(user, gateway.SessionID(id)) },
	},
}

// Place is where a table's column is, as "table.column".
func (c Sealed) Place() string { return c.table + "." + c.column }

// ResealStep is what one call of Reseal came to.
type ResealStep struct {
	// Last is the id of the last row that was looked at, to go on after.
	Last [16]byte
	// Found rows were sealed with an older key. Resealed of them are not any
	// more, and Unsealable ones open with no key. What is left of them was
	// changed or locked by somebody else: another pass finds them.
	Found, Resealed, Unsealable int
}

// sealedRow is a value that is sealed with an older key.
type sealedRow struct {
	ID, First, Second [16]byte
	Sealed            []byte
}

// Reseal seals up to limit values of a column, from a row on, with the key that
// seals by now. A step that has found fewer was the last one of a pass.
//
// The promise: no value is changed or lost. A value takes the place of exactly
// the bytes that it was opened from; a row that was written meanwhile is left
// as it is, and one that is locked too: nobody waits for a rotation, and it
// waits for nobody.
func (s *Store) Reseal(ctx context.Context, c Sealed, after [16]byte, limit int) (step ResealStep, err error) {
	if s.sealer == nil {
		return step, errNoSealer
	}
	rows, err := s.sealedOtherwise(ctx, c, after, limit)
	if err != nil || len(rows) == 0 {
		return step, err
	}
	step.Found, step.Last = len(rows), rows[len(rows)-1].ID
	var ids [][16]byte
	var were, become [][]byte
	for _, row := range rows {
		sealed, err := s.resealed(ctx, c, row)
		switch {
		case errors.Is(err, secret.ErrUnsealable):
			step.Unsealable++
		case err != nil:
			return step, err
		default:
			ids, were, become = append(ids, row.ID), append(were, row.Sealed), append(become, sealed)
		}
	}
	// The names are this file's own.
	tag, err := s.pool.Exec(ctx, `
		WITH changed AS (
			SELECT id, was, becomes
			FROM unnest($1::uuid[], $2::bytea[], $3::bytea[]) AS c (id, was, becomes)
		), mine AS (
			SELECT t.id
			FROM `+c.table+` t
			WHERE t.id = ANY($1)
			FOR NO KEY UPDATE SKIP LOCKED
		)
		UPDATE `+c.table+` t
		SET `+c.column+` = changed.becomes
		FROM changed
		JOIN mine USING (id)
		WHERE t.id = changed.id
		  AND t.`+c.column+` = changed.was`, ids, were, become)
	step.Resealed = int(tag.RowsAffected())
	return step, wrap("seal anew", err)
}

// sealedOtherwise finds values that are not sealed with the key that seals by
// now.
func (s *Store) sealedOtherwise(ctx context.Context, c Sealed, after [16]byte, limit int) ([]sealedRow, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT id, `+c.first+`, `+c.second+`, `+c.column+`
		FROM `+c.table+`
		WHERE id > $1
		  AND length(`+c.column+`) > 0
		  AND substr(`+c.column+`, 1, length($2::bytea)) <> $2
		ORDER BY id
		LIMIT $3`, after, s.sealer.KeyID().Prefix(), limit)
	if err != nil {
		return nil, wrap("find what an older key has sealed", err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[sealedRow])
	return found, wrap("find what an older key has sealed", err)
}

// resealed opens a value and seals it with the key that seals by now.
func (s *Store) resealed(ctx context.Context, c Sealed, row sealedRow) ([]byte, error) {
	bound := c.bound(row.ID, row.First, row.Second)
	plain, err := s.open(ctx, row.Sealed, bound)
	if err != nil {
		return nil, err
	}
	return s.sealer.Seal(plain, bound)
}

// AllResealed tells whether no value is sealed with another key than the one
// that seals by now.
func (s *Store) AllResealed(ctx context.Context) (bool, error) {
	for _, c := range SealedColumns {
		if rows, err := s.sealedOtherwise(ctx, c, [16]byte{}, 1); err != nil || len(rows) > 0 {
			return false, err
		}
	}
	return true, nil
}
