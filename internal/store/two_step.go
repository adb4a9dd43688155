package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/secret"
)

// Every statement here that writes for a person locks their row first, as where
// a password is changed, so that none waits for another in a circle.

// TwoStep is how a person's two-step log-in stands.
type TwoStep struct {
	// OnAt is since when a code is asked for; nil is that none is.
	OnAt *time.Time
	// Begun tells that there is a key, confirmed or not.
	Begun bool
	// Codes is how many recovery codes are left.
	Codes int
}

// TwoStep reads how a person's two-step log-in stands.
func (s *Store) TwoStep(ctx context.Context, user gateway.UserID) (t TwoStep, err error) {
	err = s.pool.QueryRow(ctx, `
		SELECT two_step_at, step_key IS NOT NULL, (SELECT count(*) FROM recovery_codes WHERE user_id = $1)
		FROM users
		WHERE id = $1`, user).Scan(&t.OnAt, &t.Begun, &t.Codes)
	return t, wrap("read two-step log-in", err)
}

// StepKey is the key that a person's codes are made of.
type StepKey struct {
	// Text is the key, as programs that make codes take it.
	Text string

	// sealed is how it is stored, by which it is known again.
	sealed []byte
}

// stepKeyContext binds a key to its person.
func stepKeyContext(user gateway.UserID) []byte { return secret.Context("users.step_key", user, user) }

// StepKey opens the key of a person, confirmed or not. Who has none is
// gateway.ErrNotFound.
func (s *Store) StepKey(ctx context.Context, user gateway.UserID) (StepKey, error) {
	var sealed []byte
	err := s.pool.QueryRow(ctx, `
		SELECT step_key
		FROM users
		WHERE id = $1
		  AND step_key IS NOT NULL`, user).Scan(&sealed)
	if err != nil {
		return StepKey{}, wrap("read the key of codes", err)
	}
	text, err := s.open(ctx, sealed, stepKeyContext(user))
	return StepKey{Text: string(text), sealed: sealed}, wrap("unseal the key of codes", err)
}

// BeginTwoStep stores a key that is to be confirmed, in place of one that was
// not, and tells whether it did.
//
// The promise: a key that counts is not replaced.
func (t Tx) BeginTwoStep(ctx context.Context, user gateway.UserID, key string) (bool, error) {
	if t.store.sealer == nil {
		return false, errNoSealer
	}
	sealed, err := t.store.sealer.Seal([]byte(key), stepKeyContext(user))
	if err != nil {
		return false, err
	}
	tag, err := t.tx.Exec(ctx, `
		UPDATE users
		SET step_key = $2
		WHERE id = $1
		  AND two_step_at IS NULL`, user, sealed)
	return tag.RowsAffected() == 1, wrap("begin two-step log-in", err)
}

// TurnTwoStepOn has codes asked for from now on, and uses the step up whose code
// has confirmed the key. It tells whether it did: not when it was on, or the key
// is another one by now.
//
// The promise: a key counts once a code of that very key was shown, and it is
// turned on by one.
func (t Tx) TurnTwoStepOn(ctx context.Context, user gateway.UserID, key StepKey, step int64) (bool, error) {
	tag, err := t.tx.Exec(ctx, `
		UPDATE users
		SET two_step_at = now(), last_step = @step
		WHERE id = @user
		  AND step_key = @key
		  AND two_step_at IS NULL`,
		pgx.NamedArgs{"user": user, "key": key.sealed, "step": step})
	return tag.RowsAffected() == 1, wrap("turn two-step log-in on", err)
}

// UseStep uses the code of a step of time up, and tells whether that could be
// done. It returns the hash of the person's password, as it is while the
// transaction holds their row.
//
// The promise: a code lets in once. Who comes second with it, or with one from
// before, waits for the row and finds a step that is as new.
func (t Tx) UseStep(ctx context.Context, user gateway.UserID, key StepKey, step int64) (passwordHash string, used bool, err error) {
	err = t.tx.QueryRow(ctx, `
		UPDATE users
		SET last_step = @step
		WHERE id = @user
		  AND step_key = @key
		  AND two_step_at IS NOT NULL
		  AND last_step < @step
		RETURNING password_hash`,
		pgx.NamedArgs{"user": user, "key": key.sealed, "step": step}).Scan(&passwordHash)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", false, nil
	}
	return passwordHash, err == nil, wrap("use a code", err)
}

// UseRecoveryCode uses a recovery code up, by its hash, and tells whether it
// could be used. It returns the hash of the person's password, as UseStep does,
// and how many codes are left.
//
// The promise: a recovery code lets in once. Of two that delete it, one finds
// it.
func (t Tx) UseRecoveryCode(ctx context.Context, user gateway.UserID, hash [32]byte) (passwordHash string, left int, used bool, err error) {
	err = t.tx.QueryRow(ctx, `
		WITH person AS (
			SELECT id, password_hash
			FROM users
			WHERE id = $1
			  AND two_step_at IS NOT NULL
			FOR NO KEY UPDATE
		), used AS (
			DELETE FROM recovery_codes
			WHERE user_id = (SELECT id FROM person)
			  AND hash = $2
			RETURNING user_id
		)
		SELECT p.password_hash, (SELECT count(*) FROM recovery_codes WHERE user_id = p.id AND hash <> $2)
		FROM person p
		JOIN used u ON u.user_id = p.id`, user, hash[:]).Scan(&passwordHash, &left)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", 0, false, nil
	}
	return passwordHash, left, err == nil, wrap("use a recovery code", err)
}

// ReplaceRecoveryCodes stores recovery codes by their hashes, in place of those
// that were there, and tells whether it did: not while two-step log-in is off.
//
// The promise: of two who make codes at once, those of one are there and not
// some of each. The person's row is locked before any is deleted.
func (t Tx) ReplaceRecoveryCodes(ctx context.Context, user gateway.UserID, hashes [][32]byte) (bool, error) {
	plain := make([][]byte, len(hashes))
	for i := range hashes {
		plain[i] = hashes[i][:]
	}
	if on, err := t.lockTwoStep(ctx, user); err != nil || !on {
		return false, err
	}
	if _, err := t.tx.Exec(ctx, `DELETE FROM recovery_codes WHERE user_id = $1`, user); err != nil {
		return false, wrap("end recovery codes", err)
	}
	_, err := t.tx.Exec(ctx, `
		INSERT INTO recovery_codes (user_id, hash)
		SELECT $1, unnest($2::bytea[])`, user, plain)
	return err == nil, wrap("store recovery codes", err)
}

// lockTwoStep locks a person's row and tells whether two-step log-in is on.
func (t Tx) lockTwoStep(ctx context.Context, user gateway.UserID) (on bool, err error) {
	err = t.tx.QueryRow(ctx, `
		SELECT two_step_at IS NOT NULL
		FROM users
		WHERE id = $1
		FOR NO KEY UPDATE`, user).Scan(&on)
	return on, wrap("lock the person", err)
}

// TurnTwoStepOff forgets a person's key and recovery codes, and tells whether it
// was on.
//
// The promise: it is turned off by one, who tells of it.
func (t Tx) TurnTwoStepOff(ctx context.Context, user gateway.UserID) (bool, error) {
	tag, err := t.tx.Exec(ctx, `
		UPDATE users
		SET two_step_at = NULL, step_key = NULL, last_step = 0
		WHERE id = $1
		  AND two_step_at IS NOT NULL`, user)
	if err != nil || tag.RowsAffected() == 0 {
		return false, wrap("turn two-step log-in off", err)
	}
	_, err = t.tx.Exec(ctx, `DELETE FROM recovery_codes WHERE user_id = $1`, user)
	return err == nil, wrap("end recovery codes", err)
}
