package account

import (
	"context"
	"fmt"

	"github.com/alexedwards/argon2id"
)

// passwordParams take some 50 ms and 64 MiB a hash on common hardware: little
// for one log-in, much for who tries them all.
var passwordParams = &argon2id.Params{
	Memory:      64 << 10, // KiB
	Iterations:  2,
	Parallelism: 1,
	SaltLength:  16, // bytes
	KeyLength:   32, // bytes
}

// maxHashing is how many passwords are hashed at once, so that nobody takes
// all memory and processors by logging in.
const maxHashing = 2

// hasher hashes passwords, a few at a time.
type hasher struct{ slots chan struct{} }

func newHasher() hasher { return hasher{slots: make(chan struct{}, maxHashing)} }

// hash waits for its turn, as long as the context allows. The hash of no
// password is empty, and nothing matches it.
func (h hasher) hash(ctx context.Context, password string) (string, error) {
	if password == "" {
		return "", nil
	}
	select {
	case h.slots <- struct{}{}:
		defer func() { <-h.slots }()
	case <-ctx.Done():
		return "", fmt.Errorf("wait to hash a password: %w", ctx.Err())
	}
	hash, err := argon2id.CreateHash(password, passwordParams)
	if err != nil {
		return "", fmt.Errorf("hash password: %w", err)
	}
	return hash, nil
}
