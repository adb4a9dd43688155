package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

const sourceFields = `id, account_id, uid, name, kind, token, settings, state, capture_until, rule, rule_version, created_at, updated_at`

// CreateSource makes a source and returns it as it is stored. A uid that
// another source of the account has is gateway.ErrUIDTaken.
func (t Tx) CreateSource(ctx context.Context, account gateway.AccountID, source gateway.Source) (gateway.Source, error) {
	rows, err := t.tx.Query(ctx, `
		INSERT INTO sources (id, account_id, uid, name, kind, token, settings, capture_until)
		VALUES (@id, @account, @uid, @name, @kind, @token, @settings, @capture)
		RETURNING `+sourceFields,
		pgx.NamedArgs{
			"id": source.ID, "account": account, "uid": source.UID, "name": source.Name,
			"kind": source.Kind, "token": source.Token, "settings": notNil(source.Settings),
			"capture": source.CaptureUntil,
		})
	return oneSource("create source", rows, err)
}

// UpdateSource writes a source's uid, name and settings.
func (t Tx) UpdateSource(ctx context.Context, account gateway.AccountID, source gateway.Source) (gateway.Source, error) {
	rows, err := t.tx.Query(ctx, `
		UPDATE sources
		SET uid = @uid, name = @name, settings = @settings, updated_at = now()
		WHERE id = @id
		  AND account_id = @account
		  AND deleted_at IS NULL
		RETURNING `+sourceFields,
		pgx.NamedArgs{
			"id": source.ID, "account": account, "uid": source.UID,
			"name": source.Name, "settings": notNil(source.Settings),
		})
	return oneSource("update source", rows, err)
}

// SetSourceRule gives a source another rule; nil takes it away. Its version grows
// with each, so that nobody takes one for another.
func (t Tx) SetSourceRule(ctx context.Context, account gateway.AccountID, id gateway.SourceID, rule *gateway.Rule) (gateway.Source, error) {
	rows, err := t.tx.Query(ctx, `
		UPDATE sources
		SET rule = $3, rule_version = rule_version + 1, updated_at = now()
		WHERE id = $1
		  AND account_id = $2
		  AND deleted_at IS NULL
		RETURNING `+sourceFields, id, account, rule)
	return oneSource("set the source's rule", rows, err)
}

// SetSourceState pauses or resumes a source and tells whether that changed
// anything. A source that is not there changes nothing.
//
// The promise: of two presses of one button, one has an effect.
func (t Tx) SetSourceState(ctx context.Context, account gateway.AccountID, id gateway.SourceID, state gateway.SourceState) (bool, error) {
	tag, err := t.tx.Exec(ctx, `
		UPDATE sources
		SET state = @state, updated_at = now()
		WHERE id = @id
		  AND account_id = @account
		  AND deleted_at IS NULL
		  AND state <> @state`,
		pgx.NamedArgs{"id": id, "account": account, "state": string(state)})
	return tag.RowsAffected() == 1, wrap("set source state", err)
}

// DeleteSource makes a source, its ingest URL and its secrets end. What came
// from it stays.
//
// The promise: deleted once, by whoever comes first, and nothing is held at a
// deleted source: a paused one becomes active, for good, so that what it holds
// is let go by the caller, and what still comes in is decided.
func (t Tx) DeleteSource(ctx context.Context, account gateway.AccountID, id gateway.SourceID) error {
	tag, err := t.tx.Exec(ctx, `
		UPDATE sources
		SET deleted_at = now(), updated_at = now(), state = 'active'
		WHERE id = $1
		  AND account_id = $2
		  AND deleted_at IS NULL`, id, account)
	if err == nil && tag.RowsAffected() == 0 {
		err = gateway.ErrNotFound
	}
	if err != nil {
		return wrap("delete source", err)
	}
	_, err = t.tx.Exec(ctx, `
		UPDATE source_secrets
		SET ends_at = now()
		WHERE source_id = $1
		  AND account_id = $2
		  AND (ends_at IS NULL OR ends_at > now())`, id, account)
	return wrap("end the source's secrets", err)
}

// LockSource reads a source and makes its other changes wait until this
// transaction ends. Events can still come in.
func (t Tx) LockSource(ctx context.Context, account gateway.AccountID, id gateway.SourceID) (gateway.Source, error) {
	rows, err := t.tx.Query(ctx, `
		SELECT `+sourceFields+`
		FROM sources
		WHERE id = $1
		  AND account_id = $2
		  AND deleted_at IS NULL
		FOR NO KEY UPDATE`, id, account)
	return oneSource("lock source", rows, err)
}

// Source reads a source.
func (s *Store) Source(ctx context.Context, account gateway.AccountID, id gateway.SourceID) (gateway.Source, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT `+sourceFields+`
		FROM sources
		WHERE id = $1
		  AND account_id = $2
		  AND deleted_at IS NULL`, id, account)
	return oneSource("read source", rows, err)
}

// SourceByUID reads the source that the account calls by this name.
func (s *Store) SourceByUID(ctx context.Context, account gateway.AccountID, uid string) (gateway.Source, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT `+sourceFields+`
		FROM sources
		WHERE account_id = $1
		  AND uid = $2
		  AND deleted_at IS NULL`, account, uid)
	return oneSource("read source", rows, err)
}

// Sources lists an account's sources, newest first.
func (s *Store) Sources(ctx context.Context, account gateway.AccountID, page Page[gateway.SourceID]) ([]gateway.Source, error) {
	low, high := page.bounds()
	rows, err := s.pool.Query(ctx, `
		SELECT `+sourceFields+`
		FROM sources
		WHERE account_id = @account
		  AND id >= @low
		  AND id < @high
		  AND deleted_at IS NULL
		ORDER BY id DESC
		LIMIT @limit`,
		pgx.NamedArgs{"account": account, "low": low, "high": high, "limit": page.Limit})
	if err != nil {
		return nil, wrap("list sources", err)
	}
	sources, err := pgx.CollectRows(rows, pgx.RowToStructByName[gateway.Source])
	return sources, wrap("list sources", err)
}

// SourceByToken finds the source that an ingest URL belongs to, whatever its
// account, and the secrets that are live, newest first. Built-in sources have
// no ingest URL and are not found.
func (s *Store) SourceByToken(ctx context.Context, token string) (gateway.Source, []gateway.Secret, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT `+sourceFields+`
		FROM sources
		WHERE token = $1
		  AND kind <> 'api'
		  AND deleted_at IS NULL`, token)
	source, err := oneSource("find source", rows, err)
	if err != nil {
		return gateway.Source{}, nil, err
	}
	secrets, err := s.SourceSecrets(ctx, source.AccountID, source.ID)
	return source, secrets, err
}

func oneSource(doing string, rows pgx.Rows, err error) (gateway.Source, error) {
	if err != nil {
		return gateway.Source{}, wrap(doing, err)
	}
	source, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[gateway.Source])
	return source, wrap(doing, err)
}
