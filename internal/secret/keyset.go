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

// Open unwraps a keyset with the current master key or a previous one. When
// none fits, the error is ErrWrongMasterKey, which says what to do.
func Open(wrapped []byte, current MasterKey, previous ...MasterKey) (*Sealer, error) {
	handle, err := unwrap(wrapped, current)
	if err == nil {
		return newSealer(handle, false)
	}
	for _, master := range previous {
		if handle, err = unwrap(wrapped, master); err == nil {
			return newSealer(handle, true)
		}
	}
	return nil, ErrWrongMasterKey
}

// Wrap returns the sealer's keyset wrapped by another master key, to replace
// the stored one. Secrets sealed before stay as they are.
func (s *Sealer) Wrap(master MasterKey) ([]byte, error) { return wrap(s.handle, master) }

// Rotate returns a sealer that seals with a fresh key and still opens what
// this one sealed. Its keyset must be stored (Wrap) before it seals anything.
func (s *Sealer) Rotate() (*Sealer, error) {
	manager := keyset.NewManagerFromHandle(s.handle)
	id, err := manager.Add(aead.XChaCha20Poly1305KeyTemplate())
	if err != nil {
		return nil, fmt.Errorf("add key: %w", err)
	}
	if err := manager.SetPrimary(id); err != nil {
		return nil, fmt.Errorf("choose key: %w", err)
	}
	handle, err := manager.Handle()
	if err != nil {
		return nil, fmt.Errorf("make keyset: %w", err)
	}
	return newSealer(handle, s.outdated)
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
