package gateway

import (
	"crypto/sha256"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"
)

// ClaimState says how far the thing is that a claim is for.
type ClaimState string

// The states of a claim.
const (
	// ClaimInProgress: somebody holds it. Whether the lease has ended is a matter
	// of time and not of state.
	ClaimInProgress ClaimState = "in_progress"
	// ClaimDone: it was done, once and for all.
	ClaimDone ClaimState = "done"
	// ClaimReleased: nobody holds it, and it was not done.
	ClaimReleased ClaimState = "released"
)

// ClaimStates lists every state, for filters and documentation.
var ClaimStates = []ClaimState{ClaimInProgress, ClaimDone, ClaimReleased}

// HoldEnd says how a holder's time with a claim ended.
type HoldEnd string

// How a holder's time can end. Empty is one that lasts, or that was followed by
// another when its lease had ended.
const (
	HoldCompleted HoldEnd = "completed"
	HoldReleased  HoldEnd = "released"
	// HoldReclaimed: a person freed it.
	HoldReclaimed HoldEnd = "reclaimed"
	// HoldResolved: a person said that it is done.
	HoldResolved HoldEnd = "resolved"
)

const (
	// MinLease is the shortest time that a claim can be held without a sign of
	// life.
	MinLease = time.Second
	// MaxLease is the longest.
	MaxLease = 24 * time.Hour
	// MaxClaimKey bounds a claim's key, in bytes.
	MaxClaimKey = 1024
	// MaxHolder bounds the name of a holder, in bytes.
	MaxHolder = 200
	// MaxClaimResult bounds what is stored with a done claim, in bytes.
	MaxClaimResult = 64 << 10
	// MaxReason bounds why a person stepped in, in bytes.
	MaxReason = 1000
)

// Claim is the right to do one thing once, and whether it was done.
type Claim struct {
	ID        ClaimID
	AccountID AccountID
	// Scope groups keys: the caller's own, or of a single-fire claim the id of
	// the endpoint at the head of the failover chain.
	Scope string
	Key   string
	// EventType and Subject are those of a single-fire claim; empty in the
	// ledger that receivers use.
	EventType, Subject string
	State              ClaimState
	// Holder is who has it or had it last, in its own words.
	Holder string
	// DeliveryID is the delivery that holds a single-fire claim or held it last.
	DeliveryID *DeliveryID
	// Fence grows with each holder.
	Fence          int64
	OnDoubt        OnDoubt
	ClaimedAt      time.Time
	LeaseExpiresAt time.Time
	// EndedAt is when it was completed, released, reclaimed or resolved last.
	EndedAt *time.Time
	// Result is any JSON value, byte for byte as the holder said it; nil for none.
	Result []byte
}

// IsSingleFire tells a claim that deliveries make from one of the ledger.
func (c Claim) IsSingleFire() bool { return c.EventType != "" }

// IsStuck tells whether the claim is held and its lease has ended.
func (c Claim) IsStuck(now time.Time) bool {
	return c.State == ClaimInProgress && !now.Before(c.LeaseExpiresAt)
}

// Hold is one holder's time with a claim.
type Hold struct {
	Fence          int64
	Holder         string
	DeliveryID     *DeliveryID
	ClaimedAt      time.Time
	LeaseExpiresAt time.Time
	EndedAt        *time.Time
	// Ended is empty while it lasts, and for one that was followed by another
	// when its lease had ended.
	Ended HoldEnd
	// Actor reclaimed or resolved it, for Reason.
	Actor  Actor
	Reason string
}

// HashClaimKey is how a claim's key is stored and found.
func HashClaimKey(key string) []byte {
	sum := sha256.Sum256([]byte(key))
	return sum[:]
}

// SingleFireKey is the key of a fact that an endpoint is to be told once: its
// type and what it is about. No type has the sign between them.
func SingleFireKey(eventType, subject string) string { return eventType + "#" + subject }

var scopePattern = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.:/-]{0,127}$`)

// CheckClaimScope checks a scope that a caller names. One like an id could be
// an endpoint's, whose claims are not the caller's.
func CheckClaimScope(scope string) error {
	if !scopePattern.MatchString(scope) {
		return Invalid("scope", "want 1 to 128 letters, digits, _ . : / or -, not beginning with a sign")
	}
	if LooksLikeID(scope) {
		return Invalid("scope", "looks like an id: choose a name of your own")
	}
	return nil
}

// CheckClaimKey checks a key that a caller names.
func CheckClaimKey(key string) error { return checkWords("key", key, MaxClaimKey) }

// CheckHolder checks the name of a holder, which may be empty.
func CheckHolder(holder string) error {
	if holder == "" {
		return nil
	}
	return checkWords("holder", holder, MaxHolder)
}

// CheckReason checks why a person steps in.
func CheckReason(reason string) error { return checkReason("reason", reason) }

// CheckOverride checks why a confirmed fact is to be sent a second time.
func CheckOverride(reason string) error { return checkReason("override_claim", reason) }

func checkReason(field, reason string) error {
	if strings.TrimSpace(reason) == "" {
		return Invalid(field, "say why: it is kept in the audit log")
	}
	return checkWords(field, reason, MaxReason)
}

func checkWords(field, text string, most int) error {
	if text == "" || len(text) > most || !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		return Invalid(field, "want 1 to %d bytes of UTF-8 without NUL characters", most)
	}
	return nil
}

// CheckLease checks how long a claim is to be held.
func CheckLease(lease time.Duration) error {
	if lease < MinLease || lease > MaxLease {
		return Invalid("lease", "want %s to %s", DurationText(MinLease), DurationText(MaxLease))
	}
	return nil
}

// CheckCallKey checks the idempotency key of a call that claims.
func CheckCallKey(key string) error { return checkWords("Idempotency-Key", key, MaxClaimKey) }
