package account

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/secret"
	"github.com/rowlock/rowlock/internal/store"
)

const (
	// keyPrefix begins every API key, so that one that leaked is recognised.
	keyPrefix = "rk_"
	// keyHint is how many characters of a key's end are kept to tell keys apart.
	keyHint = 4
	// maxKeyRate bounds a key's own limit, in events a second.
	maxKeyRate = 1_000_000
	// maxKeyNetworks bounds what is compared with each request.
	maxKeyNetworks = 100
)

// NewKey is an API key to be made.
type NewKey struct {
	Name string
	// Scopes is one or more.
	Scopes []gateway.Scope
	// EventsPerSecond limits what it publishes; nil is the server's limit.
	EventsPerSecond *int
	// EndsAt is when it ends by itself; nil is never.
	EndsAt *time.Time
	// Networks are the addresses and networks that it may be used from; none is
	// from anywhere.
	Networks []string

	// networks are the same once they were checked.
	networks []netip.Prefix
}

// Keys lists an account's keys, those that have ended included, newest first.
func (s *Service) Keys(ctx context.Context, account gateway.AccountID, page store.Page[gateway.KeyID]) ([]gateway.APIKey, error) {
	return s.store.APIKeys(ctx, account, page)
}

// Key reads a key, whether it has ended or not. One that is not there is
// gateway.ErrNotFound.
func (s *Service) Key(ctx context.Context, account gateway.AccountID, id gateway.KeyID) (gateway.APIKey, error) {
	return s.store.APIKey(ctx, account, id)
}

// CreateKey makes an API key and returns it with its text, which is not kept
// anywhere. Errors: gateway.InvalidError, joined if there are several.
func (s *Service) CreateKey(ctx context.Context, account gateway.AccountID, actor gateway.Actor, n NewKey) (made gateway.APIKey, text string, err error) {
	if n, err = n.checked(s.clock.Now()); err != nil {
		return gateway.APIKey{}, "", err
	}
	err = s.store.InTx(ctx, func(tx store.Tx) error {
		if made, text, err = s.addKey(ctx, tx, account, n); err != nil {
			return err
		}
		return s.audit(ctx, tx, account, actor, "key.create", made.ID.String(), n.summary())
	})
	if err != nil {
		return gateway.APIKey{}, "", err
	}
	return made, text, nil
}

// EndKey makes an API key end now, and revokes what it has invited. One that has
// ended is left as it is; one that is not there is gateway.ErrNotFound.
func (s *Service) EndKey(ctx context.Context, account gateway.AccountID, actor gateway.Actor, id gateway.KeyID) error {
	return s.store.InTx(ctx, func(tx store.Tx) error {
		changed, err := tx.EndAPIKey(ctx, account, id)
		if err != nil || !changed {
			return err
		}
		if err := s.endInvitationsOf(ctx, tx, account, actor, gateway.Actor(id.String())); err != nil {
			return err
		}
		return s.audit(ctx, tx, account, actor, "key.end", id.String(), "")
	})
}

// addKey stores a key and returns it with its text.
func (s *Service) addKey(ctx context.Context, tx store.Tx, account gateway.AccountID, n NewKey) (gateway.APIKey, string, error) {
	text := secret.NewToken(keyPrefix)
	key := gateway.APIKey{
		ID:              gateway.KeyID(s.clock.NewID()),
		AccountID:       account,
		Name:            n.Name,
		Hint:            text[len(text)-keyHint:],
		Scopes:          n.Scopes,
		EventsPerSecond: n.EventsPerSecond,
		EndsAt:          n.EndsAt,
		Networks:        n.networks,
	}
	key.CreatedAt = key.ID.Time()
	return key, text, tx.CreateAPIKey(ctx, account, key, secret.HashToken(text))
}

// checked returns the input in the form in which it is stored.
func (n NewKey) checked(now time.Time) (NewKey, error) {
	var nameErr, scopesErr, rateErr, endErr, netErr error
	n.Name, nameErr = checkName("name", n.Name)
	n.Scopes, scopesErr = checkScopes(n.Scopes)
	n.networks, netErr = checkNetworks(n.Networks)
	if n.EventsPerSecond != nil && (*n.EventsPerSecond < 1 || *n.EventsPerSecond > maxKeyRate) {
		rateErr = gateway.Invalid("events_per_second", "want 1 to %d, or none for the server's limit", maxKeyRate)
	}
	if n.EndsAt != nil && !n.EndsAt.After(now) {
		endErr = gateway.Invalid("ends_at", "want a time to come")
	}
	return n, errors.Join(nameErr, scopesErr, rateErr, endErr, netErr)
}

// checkScopes returns each scope once, in the order of gateway.Scopes.
func checkScopes(scopes []gateway.Scope) ([]gateway.Scope, error) {
	for _, scope := range scopes {
		if !slices.Contains(gateway.Scopes, scope) {
			return nil, gateway.Invalid("scopes", "want one or more of %s", scopeList(gateway.Scopes))
		}
	}
	var known []gateway.Scope
	for _, scope := range gateway.Scopes {
		if slices.Contains(scopes, scope) {
			known = append(known, scope)
		}
	}
	if len(known) == 0 {
		return nil, gateway.Invalid("scopes", "want one or more of %s", scopeList(gateway.Scopes))
	}
	return known, nil
}

// checkNetworks reads the networks that a key may be used from, each once.
func checkNetworks(texts []string) ([]netip.Prefix, error) {
	if len(texts) > maxKeyNetworks {
		return nil, gateway.Invalid("allowed_ips", "want at most %d addresses and networks", maxKeyNetworks)
	}
	var all []netip.Prefix
	for _, text := range texts {
		p, err := gateway.ParseNetwork(text)
		if err != nil {
			return nil, gateway.Invalid("allowed_ips", "%s", err)
		}
		if !slices.Contains(all, p) {
			all = append(all, p)
		}
	}
	return all, nil
}

// summary tells in the audit log what a key can do.
func (n NewKey) summary() string {
	told := n.Name + ": " + scopeList(n.Scopes)
	if n.EndsAt != nil {
		told += ", until " + n.EndsAt.UTC().Format(time.RFC3339)
	}
	if len(n.networks) > 0 {
		told += ", from " + strings.Join(gateway.NetworkTexts(n.networks), ", ")
	}
	return told
}

func scopeList(scopes []gateway.Scope) string {
	names := make([]string, len(scopes))
	for i, scope := range scopes {
		names[i] = string(scope)
	}
	return strings.Join(names, ", ")
}
