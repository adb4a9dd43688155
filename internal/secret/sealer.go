package secret

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/tink"
)

// ErrUnsealable is returned for bytes that were not sealed with this keyset
// and this context, or were changed since.
var ErrUnsealable = errors.New("the secret does not open: it was changed, moved to another row, or sealed with a key that is gone")

// KeyID names a key of the keyset. It is no secret: what a key has sealed
// begins with it.
type KeyID uint32

// String writes the id as it is shown to people.
func (id KeyID) String() string { return fmt.Sprintf("%08x", uint32(id)) }

const (
	// sealedMark is the first byte of all that is sealed.
	sealedMark = 1
	// prefixLen is the length of what stands before the ciphertext: the mark
	// and the key's id, big endian.
	prefixLen = 5
)

// Prefix is how all begins that this key has sealed, and nothing else.
func (id KeyID) Prefix() []byte {
	return binary.BigEndian.AppendUint32([]byte{sealedMark}, uint32(id))
}

// KeyOf reads which key has sealed something. false means that these bytes
// were not sealed at all.
func KeyOf(sealed []byte) (KeyID, bool) {
	if len(sealed) < prefixLen || sealed[0] != sealedMark {
		return 0, false
	}
	return KeyID(binary.BigEndian.Uint32(sealed[1:])), true
}

// Sealer seals and opens stored secrets. It is safe for concurrent use, also
// while its keyset is replaced by a newer one.
type Sealer struct {
	masters MasterKeys
	keys    atomic.Pointer[keys]
}

// keys are a keyset that was opened.
type keys struct {
	handle *keyset.Handle
	aead   tink.AEAD
	// all are the ids of the keys, and primary is that of the one that seals.
	all     []KeyID
	primary KeyID
	// masters are the fingerprints of the master keys at hand when the keyset
	// was opened, and outdated tells that a previous one opened it.
	masters  []string
	outdated bool
}

func newKeys(handle *keyset.Handle, masters []string, outdated bool) (*keys, error) {
	primitive, err := aead.New(handle)
	if err != nil {
		return nil, fmt.Errorf("use keyset: %w", err)
	}
	k := &keys{handle: handle, aead: primitive, masters: masters, outdated: outdated}
	for i := range handle.Len() {
		entry, err := handle.Entry(i)
		if err != nil {
			return nil, fmt.Errorf("read keyset: %w", err)
		}
		k.all = append(k.all, KeyID(entry.KeyID()))
		if entry.IsPrimary() {
			k.primary = KeyID(entry.KeyID())
		}
	}
	return k, nil
}

// Outdated tells whether the keyset opened with a previous master key only,
// and so should be wrapped anew by the current one.
func (s *Sealer) Outdated() bool { return s.keys.Load().outdated }

// KeyID is the key that this one seals with.
func (s *Sealer) KeyID() KeyID { return s.keys.Load().primary }

// KeyIDs are the keys that this one opens with, the one that seals among them.
func (s *Sealer) KeyIDs() []KeyID { return s.keys.Load().all }

// Knows tells whether a key is in the keyset.
func (s *Sealer) Knows(id KeyID) bool { return slices.Contains(s.keys.Load().all, id) }

// Masters are the fingerprints of the master keys that were at hand when the
// keyset was opened, the current one first.
func (s *Sealer) Masters() []string { return s.keys.Load().masters }

// Seal encrypts a secret. It opens again only with the same context, which
// should say whose and which secret it is: see Context.
func (s *Sealer) Seal(plain, context []byte) ([]byte, error) {
	sealed, err := s.keys.Load().aead.Encrypt(plain, context)
	if err != nil {
		return nil, fmt.Errorf("seal secret: %w", err)
	}
	return sealed, nil
}

// Unseal decrypts what Seal returned for the same context. Anything else is
// ErrUnsealable.
func (s *Sealer) Unseal(sealed, context []byte) ([]byte, error) {
	plain, err := s.keys.Load().aead.Decrypt(sealed, context)
	if err != nil {
		return nil, ErrUnsealable // the cause tells an attacker's story, not a person's
	}
	return plain, nil
}

// Context names the one row a secret belongs to, so that a sealed secret that
// is copied to another account, row or column does not open there. column is
// a name such as "endpoint_secrets.secret".
func Context(column string, account, row [16]byte) []byte {
	context := make([]byte, 0, len(account)+len(row)+len(column))
	context = append(context, account[:]...) // fixed lengths first: unambiguous
	context = append(context, row[:]...)
	return append(context, column...)
}
