package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/secret"
)

// Person is who a session belongs to.
type Person struct {
	ID    gateway.UserID
	Name  string
	Email string
	// InstanceOwner tells whether the whole instance is theirs.
	InstanceOwner bool
	// TwoStep tells that they show a code besides the password.
	TwoStep bool
	// LastAccount is the account they looked at last; they may be no member of
	// it any more.
	LastAccount *gateway.AccountID
}

// Session is a person's log-in in one browser, as long as it lives.
type Session struct {
	ID gateway.SessionID
	Person
	CreatedAt time.Time
	// SeenAt is when it was last used, give or take a minute.
	SeenAt time.Time
	// EndsAt is when it ends if it is not used before.
	EndsAt time.Time
	// Keep tells that the person asked to stay logged in.
	Keep bool
	// Address and Agent are the client's, as it was at the log-in.
	Address, Agent string
	// HasFlash tells that a message waits for the next page.
	HasFlash bool
}

// NewSession is a session to be made.
type NewSession struct {
	ID   gateway.SessionID
	User gateway.UserID
	// PasswordHash is that of the password by which the person has shown who
	// they are.
	PasswordHash string
	// Coded tells that they have shown a code, too, if one is asked from them.
	Coded bool
	// Hash is the token's.
	Hash           [32]byte
	Keep           bool
	Address, Agent string
	// Idle is how long it lives without being used, and Longest how long at all.
	Idle, Longest time.Duration
}

// CreateSession makes a session and tells whether it did: not when the
// password was changed in the meantime, nor without a code of who turned
// two-step log-in on.
//
// The promise: no password that was changed lets anybody in, and none alone
// where a code is asked for. Whoever changes it, or turns two-step log-in on,
// locks the person's row before the sessions that it let in are ended: a
// session that comes before that is ended, and one that comes after waits for
// the row and finds another hash.
func (t Tx) CreateSession(ctx context.Context, n NewSession) (bool, error) {
	tag, err := t.tx.Exec(ctx, `
		INSERT INTO sessions (id, user_id, hash, keep, address, agent, idle, ends_at, last_at)
		SELECT @id::uuid, u.id, @hash::bytea, @keep::boolean, @address::text, @agent::text, @idle::interval,
		       now() + LEAST(@idle::interval, @longest::interval), now() + @longest::interval
		FROM users u
		WHERE u.id = @user
		  AND u.password_hash = @password
		  AND (@coded OR u.two_step_at IS NULL)
		FOR SHARE OF u`,
		pgx.NamedArgs{
			"id": n.ID, "user": n.User, "password": n.PasswordHash, "coded": n.Coded, "hash": n.Hash[:], "keep": n.Keep,
			"address": n.Address, "agent": n.Agent, "idle": n.Idle, "longest": n.Longest,
		})
	return tag.RowsAffected() == 1, wrap("create session", err)
}

const selectSession = `
	SELECT s.id, u.id, u.name, u.email, o.user_id IS NOT NULL, u.two_step_at IS NOT NULL, u.last_account_id,
	       s.created_at, s.seen_at, s.ends_at, s.keep, s.address, s.agent, s.flash IS NOT NULL
	FROM sessions s
	JOIN users u ON u.id = s.user_id
	LEFT JOIN instance_owner o ON o.user_id = u.id`

func scanSession(row pgx.CollectableRow) (s Session, err error) {
	err = row.Scan(&s.ID, &s.Person.ID, &s.Name, &s.Email, &s.InstanceOwner, &s.TwoStep, &s.LastAccount,
		&s.CreatedAt, &s.SeenAt, &s.EndsAt, &s.Keep, &s.Address, &s.Agent, &s.HasFlash)
	return s, err
}

// SessionByHash finds the session whose token has this hash. One that has
// ended is gateway.ErrNotFound.
func (s *Store) SessionByHash(ctx context.Context, hash [32]byte) (Session, error) {
	rows, err := s.pool.Query(ctx, selectSession+`
		WHERE s.hash = $1
		  AND s.ends_at > now()`, hash[:])
	if err != nil {
		return Session{}, wrap("find session", err)
	}
	found, err := pgx.CollectExactlyOneRow(rows, scanSession)
	return found, wrap("find session", err)
}

// TouchSession notes that a session is used, lets its end slide, and returns
// when it was seen and when it ends. It tells whether it did: not when that was
// noted within the time given, nor for a session that has ended.
//
// The promise: of many requests at once one writes.
func (s *Store) TouchSession(ctx context.Context, id gateway.SessionID, every time.Duration) (seenAt, endsAt time.Time, touched bool, err error) {
	err = s.pool.QueryRow(ctx, `
		UPDATE sessions
		SET seen_at = now(), ends_at = LEAST(now() + idle, last_at)
		WHERE id = $1
		  AND ends_at > now()
		  AND seen_at < now() - $2::interval
		RETURNING seen_at, ends_at`, id, every).Scan(&seenAt, &endsAt)
	if errors.Is(err, pgx.ErrNoRows) {
		return seenAt, endsAt, false, nil
	}
	return seenAt, endsAt, err == nil, wrap("touch session", err)
}

// Sessions lists a person's live sessions, the newest first.
func (s *Store) Sessions(ctx context.Context, user gateway.UserID) ([]Session, error) {
	rows, err := s.pool.Query(ctx, selectSession+`
		WHERE s.user_id = $1
		  AND s.ends_at > now()
		ORDER BY s.id DESC`, user)
	if err != nil {
		return nil, wrap("list sessions", err)
	}
	sessions, err := pgx.CollectRows(rows, scanSession)
	return sessions, wrap("list sessions", err)
}

// EndSession ends one session of a person; one that is not there is
// gateway.ErrNotFound.
func (t Tx) EndSession(ctx context.Context, user gateway.UserID, id gateway.SessionID) error {
	tag, err := t.tx.Exec(ctx, `
		DELETE FROM sessions
		WHERE id = $1
		  AND user_id = $2`, id, user)
	if err == nil && tag.RowsAffected() == 0 {
		err = gateway.ErrNotFound
	}
	return wrap("end session", err)
}

// EndSessionByHash ends the session whose token has this hash, whoever it
// belongs to, if there is one.
func (t Tx) EndSessionByHash(ctx context.Context, hash [32]byte) error {
	_, err := t.tx.Exec(ctx, `DELETE FROM sessions WHERE hash = $1`, hash[:])
	return wrap("end session", err)
}

// EndSessions ends all sessions of a person but one, and returns how many. The
// zero id keeps none.
func (t Tx) EndSessions(ctx context.Context, user gateway.UserID, keep gateway.SessionID) (int64, error) {
	tag, err := t.tx.Exec(ctx, `
		DELETE FROM sessions
		WHERE user_id = $1
		  AND id <> $2`, user, keep)
	return tag.RowsAffected(), wrap("end sessions", err)
}

// PruneSessions deletes the sessions that have ended.
func (s *Store) PruneSessions(ctx context.Context) error {
	_, err := s.pool.Exec(ctx, `DELETE FROM sessions WHERE ends_at <= now()`)
	return wrap("prune sessions", err)
}

// flashContext binds a sealed message to its session.
func flashContext(user gateway.UserID, session gateway.SessionID) []byte {
	return secret.Context("sessions.flash", user, session)
}

// Flash is a message for the next page of a session.
type Flash struct {
	// Page is the path of the only page that shows it; empty is whichever is
	// next.
	Page string
	// Message may carry a secret: it is kept sealed.
	Message []byte
}

// SetFlash seals a message for the next page of a session. A session that is
// not there takes none: gateway.ErrNotFound.
func (s *Store) SetFlash(ctx context.Context, user gateway.UserID, session gateway.SessionID, f Flash) error {
	if s.sealer == nil {
		return errNoSealer
	}
	sealed, err := s.sealer.Seal(f.Message, flashContext(user, session))
	if err != nil {
		return err
	}
	tag, err := s.pool.Exec(ctx, `
		UPDATE sessions
		SET flash = $3, flash_page = $4
		WHERE id = $1
		  AND user_id = $2`, session, user, sealed, f.Page)
	if err == nil && tag.RowsAffected() == 0 {
		err = gateway.ErrNotFound
	}
	return wrap("set the session's message", err)
}

// TakeFlash returns the message for a page of a session, by the page's path, and
// clears it; nil when there is none, or it is for another page.
//
// The promise: a message is shown once. Whoever comes second waits for the
// row, and finds it cleared.
func (s *Store) TakeFlash(ctx context.Context, user gateway.UserID, session gateway.SessionID, page string) ([]byte, error) {
	var sealed []byte
	err := s.pool.QueryRow(ctx, `
		UPDATE sessions
		SET flash = NULL
		FROM (
			SELECT id, flash
			FROM sessions
			WHERE id = $1
			  AND user_id = $2
			  AND flash IS NOT NULL
			  AND flash_page IN ('', $3)
			FOR UPDATE
		) waiting
		WHERE sessions.id = waiting.id
		RETURNING waiting.flash`, session, user, page).Scan(&sealed)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, nil
	case err != nil:
		return nil, wrap("take the session's message", err)
	}
	message, err := s.open(ctx, sealed, flashContext(user, session))
	return message, wrap("open the session's message", err)
}
