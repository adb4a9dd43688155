package store

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/secret"
)

const (
	// FollowKeysetEvery is how often a node looks whether the keyset was
	// rotated: so long it may go on sealing with the former key.
	FollowKeysetEvery = 2 * time.Second
	// reloadTimeout bounds one reading of the keyset. It is shorter than a
	// transaction may be idle, since one may wait for it.
	reloadTimeout = 3 * time.Second
	// maxMissing bounds how many unknown keys are remembered.
	maxMissing = 1000
)

// follower keeps a sealer's keyset up with the stored one.
type follower struct {
	sealer *secret.Sealer
	// connect opens a connection of its own: who needs the keyset may hold the
	// pool's last one.
	connect func(context.Context) (*pgx.Conn, error)

	mu sync.Mutex
	// missing are keys that were looked for and are not in the keyset. Since a
	// key is stored before it seals anything, they never will be.
	missing map[secret.KeyID]bool
}

// open opens a sealed value. When it was sealed with a key that this process does
// not know, the keyset was rotated meanwhile: then it is read once more.
func (s *Store) open(ctx context.Context, sealed, bound []byte) ([]byte, error) {
	if s.sealer == nil {
		return nil, errNoSealer
	}
	if id, ok := secret.KeyOf(sealed); ok {
		if err := s.keys.learn(ctx, id); err != nil {
			return nil, err
		}
	}
	return s.sealer.Unseal(sealed, bound)
}

// learn reads the keyset if a key is not in it, once for all who wait.
func (f *follower) learn(ctx context.Context, id secret.KeyID) error {
	if f.knows(id) {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.knows(id) || f.missing[id] {
		return nil
	}
	if err := f.read(ctx); err != nil {
		return err
	}
	if !f.knows(id) {
		if f.missing == nil || len(f.missing) >= maxMissing {
			f.missing = map[secret.KeyID]bool{}
		}
		f.missing[id] = true
	}
	return nil
}

func (f *follower) knows(id secret.KeyID) bool { return f.sealer.Knows(id) }

// read takes over the stored keyset; f is locked.
func (f *follower) read(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, reloadTimeout)
	defer cancel()
	conn, err := f.connect(ctx)
	if err != nil {
		return wrap("connect to read the keyset", err)
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // it has nothing to lose
	var wrapped []byte
	err = conn.QueryRow(ctx, `SELECT wrapped FROM keyset WHERE singleton`).Scan(&wrapped)
	switch {
	case errors.Is(err, pgx.ErrNoRows): // nothing was rotated
		return nil
	case err != nil:
		return wrap("read the keyset", err)
	}
	return wrap("open the rotated keyset", f.sealer.Reopen(wrapped))
}

// FollowKeyset takes over the stored keyset if it was rotated, so that what is
// sealed from now on is sealed with its new key.
func (s *Store) FollowKeyset(ctx context.Context) error {
	var id *int64
	err := s.pool.QueryRow(ctx, `SELECT key_id FROM keyset WHERE singleton`).Scan(&id)
	switch {
	case err != nil:
		return wrap("look at the keyset", err)
	case id == nil, s.sealer == nil, *id == int64(s.sealer.KeyID()):
		return nil
	}
	s.keys.mu.Lock()
	defer s.keys.mu.Unlock()
	s.keys.missing = nil
	return s.keys.read(ctx)
}
