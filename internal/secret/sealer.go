package secret

import (
	"errors"
	"fmt"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/tink"
)

// ErrUnsealable is returned for bytes that were not sealed with this keyset
// and this context, or were changed since.
var ErrUnsealable = errors.New("the secret does not open: it was changed, moved to another row, or sealed with a key that is gone")

// Sealer seals and opens stored secrets. It is safe for concurrent use.
type Sealer struct {
	handle   *keyset.Handle
	aead     tink.AEAD
	outdated bool
}

func newSealer(handle *keyset.Handle, outdated bool) (*Sealer, error) {
	primitive, err := aead.New(handle)
	if err != nil {
		return nil, fmt.Errorf("use keyset: %w", err)
	}
	return &Sealer{handle: handle, aead: primitive, outdated: outdated}, nil
}

// Outdated tells whether the keyset opened with a previous master key only,
// and so should be wrapped anew by the current one.
func (s *Sealer) Outdated() bool { return s.outdated }

// Seal encrypts a secret. It opens again only with the same context, which
// should say whose and which secret it is: see Context.
func (s *Sealer) Seal(plain, context []byte) ([]byte, error) {
	sealed, err := s.aead.Encrypt(plain, context)
	if err != nil {
		return nil, fmt.Errorf("seal secret: %w", err)
	}
	return sealed, nil
}

// Unseal decrypts what Seal returned for the same context. Anything else is
// ErrUnsealable.
func (s *Sealer) Unseal(sealed, context []byte) ([]byte, error) {
	plain, err := s.aead.Decrypt(sealed, context)
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
