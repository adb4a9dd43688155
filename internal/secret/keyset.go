package secret

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/aead/subtle"
	"github.com/tink-crypto/tink-go/v2/keyset"
)

// ErrWrongMasterKey is returned when no given master key opens the keyset.
var ErrWrongMasterKey = errors.New("the stored keyset opens with neither ROWLOCK_MASTER_KEY nor ROWLOCK_MASTER_KEY_PREVIOUS; " +
	"set ROWLOCK_MASTER_KEY to the key that this database was last used with " +
	"(with the embedded database it lies in master.key under the data directory)")

// wrapContext binds a wrapped keyset to its use, so that nothing else that
// was encrypted under a master key passes for one.
var wrapContext = []byte("rowlock keyset v1")

// NewKeyset makes a keyset with one fresh key, wrapped by the master key, to
// be stored in the database.
func NewKeyset(master MasterKey) (wrapped []byte, err error) {
	// XChaCha20-Poly1305: its random nonces are long enough that the number
	// of secrets sealed under one key needs no limit.
	handle, err := keyset.NewHandle(aead.XChaCha20Poly1305KeyTemplate())
	if err != nil {
		return nil, fmt.Errorf("make keyset: %w", err)
	}
	return wrap(handle, master)
}

// MasterKeys returns the master keys as they are now: the current one, and those
// that are accepted for reading. They are asked for each time that a keyset is
// opened, since a key that lies in a file can be replaced while it is in use.
type MasterKeys func() (current MasterKey, previous []MasterKey, err error)

// Open unwraps a keyset with the current master key or a previous one. When
// none fits, the error is ErrWrongMasterKey, which says what to do.
func Open(wrapped []byte, current MasterKey, previous ...MasterKey) (*Sealer, error) {
	return OpenWith(wrapped, func() (MasterKey, []MasterKey, error) { return current, previous, nil })
}

// OpenWith is Open with master keys that may change: Reopen asks for them again.
func OpenWith(wrapped []byte, masters MasterKeys) (*Sealer, error) {
	s := &Sealer{masters: masters}
	if err := s.Reopen(wrapped); err != nil {
		return nil, err
	}
	return s, nil
}

// Reopen replaces the sealer's keyset by another one, as a rotation has stored
// it. When that does not open, the sealer stays as it is.
func (s *Sealer) Reopen(wrapped []byte) error {
	opened, err := s.unwrap(wrapped)
	if err != nil {
		return err
	}
	s.keys.Store(opened)
	return nil
}

func (s *Sealer) unwrap(wrapped []byte) (*keys, error) {
	current, previous, err := s.masters()
	if err != nil {
		return nil, err
	}
	all := append([]MasterKey{current}, previous...)
	prints := make([]string, len(all))
	for i, master := range all {
		prints[i] = master.Fingerprint()
	}
	for _, master := range all {
		if handle, err := unwrap(wrapped, master); err == nil {
			return newKeys(handle, prints, master != current)
		}
	}
	return nil, ErrWrongMasterKey
}

// Rewrap returns the sealer's keyset wrapped by its current master key, to
// replace the stored one.
func (s *Sealer) Rewrap() ([]byte, error) {
	current, _, err := s.masters()
	if err != nil {
		return nil, err
	}
	return s.Wrap(current)
}

// Wrap returns the sealer's keyset wrapped by another master key, to replace
// the stored one. Secrets sealed before stay as they are.
func (s *Sealer) Wrap(master MasterKey) ([]byte, error) { return wrap(s.keys.Load().handle, master) }

// Rotate returns a sealer that seals with a fresh key and still opens what
// this one sealed. Its keyset must be stored (Wrap) before it seals anything.
func (s *Sealer) Rotate() (*Sealer, error) {
	return s.changed(func(manager *keyset.Manager) error {
		id, err := manager.Add(aead.XChaCha20Poly1305KeyTemplate())
		if err != nil {
			return fmt.Errorf("add key: %w", err)
		}
		if err := manager.SetPrimary(id); err != nil {
			return fmt.Errorf("choose key: %w", err)
		}
		return nil
	})
}

// Forget returns a sealer that opens nothing but what it would seal itself: the
// older keys are gone from its keyset. What they sealed, nothing opens again.
func (s *Sealer) Forget() (*Sealer, error) {
	return s.changed(func(manager *keyset.Manager) error {
		for _, id := range s.KeyIDs() {
			if id == s.KeyID() {
				continue
			}
			if err := manager.Delete(uint32(id)); err != nil {
				return fmt.Errorf("remove key: %w", err)
			}
		}
		return nil
	})
}

// changed returns a sealer with a changed copy of the keyset.
func (s *Sealer) changed(change func(*keyset.Manager) error) (*Sealer, error) {
	before := s.keys.Load()
	manager := keyset.NewManagerFromHandle(before.handle)
	if err := change(manager); err != nil {
		return nil, err
	}
	handle, err := manager.Handle()
	if err != nil {
		return nil, fmt.Errorf("make keyset: %w", err)
	}
	after, err := newKeys(handle, before.masters, before.outdated)
	if err != nil {
		return nil, err
	}
	next := &Sealer{masters: s.masters}
	next.keys.Store(after)
	return next, nil
}

func wrap(handle *keyset.Handle, master MasterKey) ([]byte, error) {
	outer, err := subtle.NewXChaCha20Poly1305(master[:])
	if err != nil {
		return nil, fmt.Errorf("use master key: %w", err)
	}
	var wrapped bytes.Buffer
	if err := handle.WriteWithAssociatedData(keyset.NewBinaryWriter(&wrapped), outer, wrapContext); err != nil {
		return nil, fmt.Errorf("wrap keyset: %w", err)
	}
	return wrapped.Bytes(), nil
}

func unwrap(wrapped []byte, master MasterKey) (*keyset.Handle, error) {
	outer, err := subtle.NewXChaCha20Poly1305(master[:])
	if err != nil {
		return nil, fmt.Errorf("use master key: %w", err)
	}
	reader := keyset.NewBinaryReader(bytes.NewReader(wrapped))
	handle, err := keyset.ReadWithAssociatedData(reader, outer, wrapContext)
	if err != nil {
		return nil, fmt.Errorf("unwrap keyset: %w", err)
	}
	return handle, nil
}
