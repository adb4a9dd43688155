package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/rowlock/rowlock/internal/secret"
)

// Keyset returns the wrapped keyset of this database, after storing candidate
// if there was none.
//
// The promise: one keyset a database, whoever starts first.
func Keyset(ctx context.Context, pool *pgxpool.Pool, candidate []byte) ([]byte, error) {
	_, err := pool.Exec(ctx, `
		INSERT INTO keyset (wrapped)
		VALUES ($1)
		ON CONFLICT (singleton) DO NOTHING`, candidate)
	if err != nil {
		return nil, wrap("store the keyset", err)
	}
	var wrapped []byte
	err = pool.QueryRow(ctx, `SELECT wrapped FROM keyset WHERE singleton`).Scan(&wrapped)
	return wrapped, wrap("read the keyset", err)
}

// KeysetState is the stored keyset and how its rotation stands.
type KeysetState struct {
	Wrapped   []byte
	CreatedAt time.Time
	// RotatedAt is when the key that seals was made; nil when it is the first.
	RotatedAt *time.Time
	// ResealedAt is when all was sealed with it; nil after RotatedAt: not yet.
	ResealedAt *time.Time
	// Age is how long the key that seals is in use.
	Age time.Duration
}

// Unfinished tells that a rotation was begun and did not come to its end.
func (k KeysetState) Unfinished() bool { return k.RotatedAt != nil && k.ResealedAt == nil }

const selectKeyset = `
	SELECT wrapped, created_at, rotated_at, resealed_at, now() - COALESCE(rotated_at, created_at)
	FROM keyset
	WHERE singleton`

func scanKeyset(row pgx.Row) (k KeysetState, err error) {
	err = row.Scan(&k.Wrapped, &k.CreatedAt, &k.RotatedAt, &k.ResealedAt, &k.Age)
	return k, err
}

// StoredKeyset reads the keyset; a database that none was made for yet is
// gateway.ErrNotFound.
func StoredKeyset(ctx context.Context, pool Pool) (KeysetState, error) {
	k, err := scanKeyset(pool.QueryRow(ctx, selectKeyset))
	return k, wrap("read the keyset", err)
}

// LockKeyset reads the keyset for a change.
func (t Tx) LockKeyset(ctx context.Context) (KeysetState, error) {
	k, err := scanKeyset(t.tx.QueryRow(ctx, selectKeyset+`
		FOR UPDATE`))
	return k, wrap("lock the keyset", err)
}

// ReplaceKeyset stores a keyset in place of the one that was read. fresh tells
// that it seals with a new key, with which everything is to be sealed anew;
// without it, a rotation that was begun goes on. It tells whether it did.
//
// The promise: no key is lost. Only what was made of the keyset that is there
// takes its place.
func (t Tx) ReplaceKeyset(ctx context.Context, read, wrapped []byte, key secret.KeyID, fresh bool) (bool, error) {
	tag, err := t.tx.Exec(ctx, `
		UPDATE keyset
		SET wrapped = @wrapped,
		    key_id = @key,
		    rotated_at = CASE WHEN @fresh THEN now() ELSE rotated_at END,
		    resealed_at = CASE WHEN @fresh THEN NULL ELSE resealed_at END
		WHERE singleton
		  AND wrapped = @read`,
		pgx.NamedArgs{"read": read, "wrapped": wrapped, "key": int64(key), "fresh": fresh})
	return tag.RowsAffected() == 1, wrap("replace the keyset", err)
}

// Resealed notes that everything is sealed with the key, and tells whether that
// is still the key that seals.
//
// The promise: what a rotation says of its own key holds for no other.
func (s *Store) Resealed(ctx context.Context, key secret.KeyID) (bool, error) {
	tag, err := s.pool.Exec(ctx, `
		UPDATE keyset
		SET resealed_at = clock_timestamp()
		WHERE singleton
		  AND key_id = $1`, int64(key))
	return tag.RowsAffected() == 1, wrap("note that all is sealed anew", err)
}

// rotationLock is the advisory lock of who rotates the keyset: "keys".
const rotationLock = 0x6b657973

// LockRotation lets one process rotate the keyset at a time, for as long as it
// holds the lock. false means that another one does it now. release gives it
// back; the end of the process does, too.
func (s *Store) LockRotation(ctx context.Context) (release func(), ok bool, err error) {
	conn, err := pgx.ConnectConfig(ctx, s.session)
	if err != nil {
		return nil, false, wrap("connect to rotate", err)
	}
	release = func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackTimeout)
		defer cancel()
		// The server gives the lock up with the session, a moment after its end.
		_, _ = conn.Exec(ctx, `SELECT pg_advisory_unlock_all()`)
		_ = conn.Close(ctx)
	}
	if err = conn.QueryRow(ctx, `SELECT pg_try_advisory_lock($1)`, rotationLock).Scan(&ok); err != nil || !ok {
		release()
		return nil, false, wrap("lock the rotation", err)
	}
	return release, true, nil
}
