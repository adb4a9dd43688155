package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

// CloseAccount has an account deleted after a time of grace and returns when.
// Until then its sources hold what comes in and its endpoints send nothing.
// Errors: gateway.ErrStateChanged for one that is about to be deleted already,
// gateway.ErrOwnerNeeded.
//
// The promise: of two who ask one has an effect, and it is an owner. What was
// stopped by a person before stays so afterwards.
func (t Tx) CloseAccount(ctx context.Context, account gateway.AccountID, by gateway.Actor, grace time.Duration) (deleteAt time.Time, err error) {
	if err := t.lockAccount(ctx, account); err != nil {
		return deleteAt, err
	}
	err = t.tx.QueryRow(ctx, `
		UPDATE accounts
		SET delete_at = now() + @grace::interval, delete_by = @actor
		WHERE id = @account
		  AND delete_at IS NULL
		  AND `+askerMay(`true`)+`
		RETURNING delete_at`,
		asking(account, by, pgx.NamedArgs{"grace": grace, "actor": string(by)})).Scan(&deleteAt)
	if errors.Is(err, pgx.ErrNoRows) {
		return deleteAt, wrap("close account", t.whyNotClosed(ctx, account, by))
	}
	if err != nil {
		return deleteAt, wrap("close account", err)
	}
	for _, sql := range stopAccounts(`account_id = $1`) {
		if _, err := t.tx.Exec(ctx, sql, account); err != nil {
			return deleteAt, wrap("stop account", err)
		}
	}
	return deleteAt, nil
}

// whyNotClosed tells whether it was the asker, or the account.
func (t Tx) whyNotClosed(ctx context.Context, account gateway.AccountID, by gateway.Actor) error {
	var owns bool
	err := t.tx.QueryRow(ctx, `
		SELECT EXISTS (
			SELECT
			FROM members
			WHERE account_id = @account
			  AND user_id = @by
			  AND role = ANY (@owners)
		)`, asking(account, by, nil)).Scan(&owns)
	switch {
	case err != nil:
		return err
	case owns:
		return gateway.ErrStateChanged
	}
	return gateway.ErrOwnerNeeded
}

// stopAccounts are the statements that stop what is active of accounts that are
// about to be deleted, and note that it goes on when they are restored.
func stopAccounts(of string) []string {
	return []string{`
		UPDATE endpoints
		SET state = 'paused', resumes = true, state_changed_at = now(), updated_at = now()
		WHERE ` + of + `
		  AND state = 'active'
		  AND deleted_at IS NULL`, `
		UPDATE sources
		SET state = 'paused', resumes = true, updated_at = now()
		WHERE ` + of + `
		  AND state = 'active'
		  AND deleted_at IS NULL`}
}

// StopClosing stops what was begun in accounts that are about to be deleted
// while they were closed.
func (s *Store) StopClosing(ctx context.Context) error {
	for _, sql := range stopAccounts(`account_id IN (
			SELECT id
			FROM accounts
			WHERE delete_at IS NOT NULL
			  AND emptied_at IS NULL
		  )`) {
		if _, err := s.pool.Exec(ctx, sql); err != nil {
			return wrap("stop accounts", err)
		}
	}
	return nil
}

// RestoreAccount takes back that an account is deleted, and has go on what went
// on before. Errors: gateway.ErrStateChanged for one that is not to be deleted,
// or is; gateway.ErrOwnerNeeded.
//
// The promise: an account is restored as a whole or is gone as a whole. Whoever
// comes second, this or TakeAway, waits for the row. Lanes come before endpoints,
// as where one is resumed; their alarms ring, even if nobody wakes them.
func (t Tx) RestoreAccount(ctx context.Context, account gateway.AccountID, by gateway.Actor) error {
	if err := t.lockAccount(ctx, account); err != nil {
		return err
	}
	tag, err := t.tx.Exec(ctx, `
		UPDATE accounts
		SET delete_at = NULL, delete_by = ''
		WHERE id = @account
		  AND delete_at IS NOT NULL
		  AND gone_at IS NULL
		  AND `+askerMay(`true`), asking(account, by, nil))
	if err == nil && tag.RowsAffected() == 0 {
		err = t.whyNotClosed(ctx, account, by)
	}
	if err != nil {
		return wrap("restore account", err)
	}
	batch := &pgx.Batch{}
	batch.Queue(`
		UPDATE lanes
		SET wake_at = now(), failed_probes = 0, sleep_until = NULL
		WHERE account_id = $1
		  AND endpoint_id IN (SELECT id FROM endpoints WHERE account_id = $1 AND resumes AND deleted_at IS NULL)`, account)
	batch.Queue(`
		UPDATE endpoints
		SET state = 'active', resumes = false, state_changed_at = now(), updated_at = now()
		WHERE account_id = $1
		  AND resumes
		  AND state = 'paused'
		  AND deleted_at IS NULL`, account)
	batch.Queue(`
		UPDATE sources
		SET state = 'active', resumes = false, updated_at = now()
		WHERE account_id = $1
		  AND resumes
		  AND state = 'paused'
		  AND deleted_at IS NULL`, account)
	return wrap("resume what was stopped", t.tx.SendBatch(ctx, batch).Close())
}

// MemberAddresses are the mail addresses of all members of an account.
func (t Tx) MemberAddresses(ctx context.Context, account gateway.AccountID) ([]string, error) {
	return t.memberAddresses(ctx, account, `true`)
}

// AddressesWithoutTwoStep are those of members who have not turned two-step
// log-in on.
func (t Tx) AddressesWithoutTwoStep(ctx context.Context, account gateway.AccountID) ([]string, error) {
	return t.memberAddresses(ctx, account, `u.two_step_at IS NULL`)
}

func (t Tx) memberAddresses(ctx context.Context, account gateway.AccountID, whose string) ([]string, error) {
	rows, err := t.tx.Query(ctx, `
		SELECT u.email
		FROM members m
		JOIN users u ON u.id = m.user_id
		WHERE m.account_id = $1
		  AND `+whose+`
		ORDER BY m.user_id`, account)
	if err != nil {
		return nil, wrap("list members' addresses", err)
	}
	addresses, err := pgx.CollectRows(rows, pgx.RowTo[string])
	return addresses, wrap("list members' addresses", err)
}
