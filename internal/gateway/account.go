package gateway

import (
	"net/netip"
	"slices"
	"time"
)

// Scope is what an API key may do.
type Scope string

// The scopes of an API key. None contains another.
const (
	// ScopePublish may send events in.
	ScopePublish Scope = "publish"
	// ScopeRead may see everything but secrets.
	ScopeRead Scope = "read"
	// ScopeManage may change things and see secrets.
	ScopeManage Scope = "manage"
)

// Scopes lists every scope.
var Scopes = []Scope{ScopePublish, ScopeRead, ScopeManage}

// Account is a tenant.
type Account struct {
	ID        AccountID
	Name      string
	Slug      string
	CreatedAt time.Time
	// DeleteAt is from when on it is deleted; until then an owner can restore it.
	// nil: it is not to be.
	DeleteAt *time.Time
}

// Allows tells whether anybody at all has a permission in the account as it
// stands: in one that is about to be deleted nothing can be changed.
func (a Account) Allows(p Permission) bool { return a.DeleteAt == nil || p.WhileClosing() }

// APIKey is a key as it is kept: never its text.
type APIKey struct {
	ID        KeyID
	AccountID AccountID
	Name      string
	// Hint is the end of the text, to tell keys apart.
	Hint   string
	Scopes []Scope
	// EventsPerSecond limits what it publishes; nil is the server's limit.
	EventsPerSecond *int
	CreatedAt       time.Time
	EndsAt          *time.Time
	// Networks are those that it may be used from; nil: from anywhere.
	Networks []netip.Prefix
	// LastUsedAt is when it was used last, give or take a minute, and LastUsedFrom
	// from which address; nil: never.
	LastUsedAt   *time.Time
	LastUsedFrom *netip.Addr
	// Closing tells, of a key that calls, that its account is about to be deleted.
	Closing bool
}

// HasEnded tells that it is good for nothing any more.
func (k APIKey) HasEnded(now time.Time) bool { return k.EndsAt != nil && !k.EndsAt.After(now) }

// ExpiryNotice is how long before its end a key is marked.
const ExpiryNotice = 7 * 24 * time.Hour

// EndsSoon tells that it ends within ExpiryNotice.
func (k APIKey) EndsSoon(now time.Time) bool {
	return k.EndsAt != nil && !k.HasEnded(now) && !k.EndsAt.After(now.Add(ExpiryNotice))
}

// From tells whether it may be used from an address. One that is not known is
// none of those that were allowed.
func (k APIKey) From(address string) bool {
	if k.Networks == nil {
		return true
	}
	ip, err := netip.ParseAddr(address)
	if err != nil {
		return false
	}
	ip = ip.Unmap().WithZone("")
	return slices.ContainsFunc(k.Networks, func(p netip.Prefix) bool { return p.Contains(ip) })
}

// Actor is who did something, for the audit log: an id of a key or a user, or
// "rowlock".
type Actor string

// ActorRowlock is the product itself.
const ActorRowlock Actor = "rowlock"

// ActorProvider is who sends to a source, and gives it its secret.
const ActorProvider Actor = "provider"
