package account

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/alexedwards/argon2id"

	"github.com/rowlock/rowlock/internal/gateway"
)

// The limits, for tests.
const (
	PairTries  = pairTries
	EmailTries = emailTries
	ResetTries = resetTries
	CodeTries  = codeTries
	PairWindow = pairWindow
	CodeWindow = codeWindow

	InvitesSent  = invitesSent
	InvitesToOne = invitesToOne

	MaxHashing = maxHashing
	MaxWaiting = maxWaiting
)

// ProvenBy is somebody who has proven who they are by the password with this
// hash.
func ProvenBy(user gateway.UserID, passwordHash string) Proven {
	return Proven{User: user, passwordHash: passwordHash}
}

// HashCheaply makes hashing take no time, for tests of other things.
func (s *Service) HashCheaply() { s.hasher.params.Memory, s.hasher.params.Iterations = 64, 1 }

// CountComparisons counts the passwords that are compared from now on, each
// with a hash that costs as much as a stored one.
func (s *Service) CountComparisons() *atomic.Int64 {
	n := &atomic.Int64{}
	s.hasher.compare = func(password, hash string) (bool, error) {
		match, params, err := argon2id.CheckHash(password, hash)
		if err == nil && *params == s.hasher.params {
			n.Add(1)
		}
		return match, err
	}
	return n
}

// HoldComparisons lets no comparison end until it is released.
func (s *Service) HoldComparisons() (release func()) {
	held, compare := make(chan struct{}), s.hasher.compare
	s.hasher.compare = func(password, hash string) (bool, error) {
		<-held
		return compare(password, hash)
	}
	return func() { close(held) }
}

// HashingIsFull tells that nobody more can wait for a turn to hash.
func (s *Service) HashingIsFull() bool { return len(s.hasher.places) == cap(s.hasher.places) }

// TellRefusalsLater is TellRefusals some time from now.
func (s *Service) TellRefusalsLater(ctx context.Context, in time.Duration) error {
	return s.tellRefusals(ctx, s.clock.Now().Add(in))
}

// StepOf is stepOf, for tests.
func StepOf(key, code string, now time.Time) (int64, bool, error) { return stepOf(key, code, now) }
