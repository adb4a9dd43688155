package account

import (
	"context"
	"encoding/base64"
	"fmt"

	"github.com/alexedwards/argon2id"

	"github.com/rowlock/rowlock/internal/gateway"
)

// passwordParams take some 50 ms and 64 MiB a hash on common hardware: little
// for one log-in, much for who tries them all.
var passwordParams = argon2id.Params{
	Memory:      64 << 10, // KiB
	Iterations:  2,
	Parallelism: 1,
	SaltLength:  16, // bytes
	KeyLength:   32, // bytes
}

// maxHashing is how many passwords are hashed at once, so that nobody takes
// all memory and processors by logging in.
const maxHashing = 2

// maxWaiting is how many more wait for their turn: some seconds of work. Who
// comes on top is refused at once, so that a flood of log-ins holds neither
// memory nor connections.
const maxWaiting = 64

// hasher hashes passwords, a few at a time.
type hasher struct {
	slots chan struct{}
	// places are for those who hash and those who wait.
	places chan struct{}
	params argon2id.Params
	// compare is a field for tests alone.
	compare func(password, hash string) (bool, error)
}

// newHasher hashes as it is told; the zero value is passwordParams.
func newHasher(params argon2id.Params) hasher {
	if params == (argon2id.Params{}) {
		params = passwordParams
	}
	return hasher{
		slots:   make(chan struct{}, maxHashing),
		places:  make(chan struct{}, maxHashing+maxWaiting),
		params:  params,
		compare: argon2id.ComparePasswordAndHash,
	}
}

// turn waits for a turn to hash, as long as the context allows; done gives it
// back. While too many wait it is gateway.ErrOverloaded.
func (h hasher) turn(ctx context.Context) (done func(), err error) {
	select {
	case h.places <- struct{}{}:
	default:
		return nil, fmt.Errorf("wait to hash a password: %w", gateway.ErrOverloaded)
	}
	select {
	case h.slots <- struct{}{}:
		return func() { <-h.slots; <-h.places }, nil
	case <-ctx.Done():
		<-h.places
		return nil, fmt.Errorf("wait to hash a password: %w", ctx.Err())
	}
}

// hash returns the hash of a password. That of no password is empty, and
// nothing matches it.
func (h hasher) hash(ctx context.Context, password string) (string, error) {
	if password == "" {
		return "", nil
	}
	done, err := h.turn(ctx)
	if err != nil {
		return "", err
	}
	defer done()
	hash, err := argon2id.CreateHash(password, &h.params)
	if err != nil {
		return "", fmt.Errorf("hash password: %w", err)
	}
	return hash, nil
}

// match tells whether a password has a hash. The empty hash, which stands for
// nobody too, takes as long as any other, and nothing matches it.
func (h hasher) match(ctx context.Context, password, hash string) (bool, error) {
	done, err := h.turn(ctx)
	if err != nil {
		return false, err
	}
	defer done()
	against := hash
	if hash == "" {
		against = h.nobody()
	}
	match, err := h.compare(password[:min(len(password), maxPassword)], against)
	if err != nil {
		return false, fmt.Errorf("compare password: %w", err)
	}
	return match && hash != "" && len(password) <= maxPassword, nil
}

// nobody is a hash as those of passwords are, of no known password.
func (h hasher) nobody() string {
	encode := base64.RawStdEncoding.EncodeToString
	return fmt.Sprintf("$argon2id$v=19$m=%d,t=%d,p=%d$%s$%s", h.params.Memory, h.params.Iterations, h.params.Parallelism,
		encode(make([]byte, h.params.SaltLength)), encode(make([]byte, h.params.KeyLength)))
}
