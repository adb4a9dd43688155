package account

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/secret"
	"github.com/rowlock/rowlock/internal/store"
)

// usedEvery is how often it is noted at the most that a key is used.
const usedEvery = time.Minute

var (
	// ErrKeyEnded is a key that expired or was revoked.
	ErrKeyEnded = fmt.Errorf("the key has ended: %w", gateway.ErrNotFound)
	// ErrKeyNetwork is a key that is used from where it may not be.
	ErrKeyNetwork = errors.New("the key is not allowed from this address")
)

// Authenticate finds the API key with this text. It asks the database each
// time, so that a key that was ended is refused from then on. From where the
// caller calls, the context tells (gateway.WithOrigin). An unknown key is
// gateway.ErrNotFound; one that is known and refused is ErrKeyEnded or
// ErrKeyNetwork, comes with its error, and is noted in the audit log.
func (s *Service) Authenticate(ctx context.Context, keyText string) (gateway.APIKey, error) {
	found, err := s.keys.find(ctx, secret.HashToken(keyText))
	if err != nil {
		return gateway.APIKey{}, err
	}
	key, ended := found.APIKey, found.Ended
	from := gateway.OriginOf(ctx).Address
	switch {
	case ended:
		return key, s.refuseKey(ctx, key, "it has ended", ErrKeyEnded)
	case !key.From(from):
		return key, s.refuseKey(ctx, key, "not allowed from this address", ErrKeyNetwork)
	}
	return key, s.useKey(ctx, key, from)
}

// refuseKey notes that a key was refused, and returns why.
func (s *Service) refuseKey(ctx context.Context, key gateway.APIKey, why string, because error) error {
	err := s.noteRefusal(ctx, key.AccountID, gateway.Actor(key.ID.String()), ActionKeyRefused,
		store.AuditLine{Object: key.ID.String(), Detail: why})
	if err != nil {
		return err
	}
	return because
}

// useKey notes that a key is used, once in a while, in a statement of its own.
// While one request of this process is at it, the others go on.
func (s *Service) useKey(ctx context.Context, key gateway.APIKey, from string) error {
	if key.LastUsedAt != nil && s.clock.Now().Sub(*key.LastUsedAt) < usedEvery {
		return nil
	}
	if _, busy := s.using.LoadOrStore(key.ID, true); busy {
		return nil
	}
	defer s.using.Delete(key.ID)
	var address *netip.Addr
	if ip, err := netip.ParseAddr(from); err == nil {
		address = new(ip.Unmap().WithZone(""))
	}
	return s.store.UseAPIKey(ctx, key.AccountID, key.ID, address, usedEvery)
}
