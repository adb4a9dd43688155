package gateway

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"
)

// ErrBadID is returned for a text that is not an id of the wanted kind.
var ErrBadID = errors.New("not an id of this kind")

// Kind names a kind of object by the prefix of its ids.
type Kind interface{ Prefix() string }

// ID is a UUIDv7, shown as its kind's prefix and 26 characters of Crockford
// base32. Ids of different kinds are different types, so that one can never
// be taken for another. The first 48 bits are the time of its making in
// milliseconds: ids sort by time, and the big tables are partitioned by them.
type ID[K Kind] [16]byte

type (
	// AccountID identifies a tenant.
	AccountID = ID[accountKind]
	// UserID identifies a person.
	UserID = ID[userKind]
	// KeyID identifies an API key.
	KeyID = ID[keyKind]
	// SourceID identifies where events come from.
	SourceID = ID[sourceKind]
	// EventID identifies an event; it is the webhook-id that receivers see.
	EventID = ID[eventKind]
	// EndpointID identifies where events go to.
	EndpointID = ID[endpointKind]
	// DeliveryID identifies one event on its way to one endpoint. It is
	// derived (DeriveDeliveryID), never drawn.
	DeliveryID = ID[deliveryKind]
	// AttemptID identifies one try of a delivery. It is derived
	// (DeriveAttemptID), never drawn.
	AttemptID = ID[attemptKind]
	// SecretID identifies a signing secret.
	SecretID = ID[secretKind]
	// RequestID identifies an ingest request that did not become an event.
	RequestID = ID[requestKind]
	// AuditID identifies an entry of the audit log.
	AuditID = ID[auditKind]
	// SessionID identifies a person's log-in in one browser.
	SessionID = ID[sessionKind]
	// InvitationID identifies an invitation to sign up.
	InvitationID = ID[invitationKind]
	// MailID identifies a mail that goes out.
	MailID = ID[mailKind]
	// AlertID identifies something that members are to be written to about.
	AlertID = ID[alertKind]
	// OperationID identifies a bulk operation.
	OperationID = ID[operationKind]
	// ClaimID identifies a key of the claim ledger.
	ClaimID = ID[claimKind]
	// FactID identifies what is known of a subject.
	FactID = ID[factKind]
	// ReconciliationID identifies a comparison with a partner's list.
	ReconciliationID = ID[reconciliationKind]
)

type (
	accountKind    struct{}
	userKind       struct{}
	keyKind        struct{}
	sourceKind     struct{}
	eventKind      struct{}
	endpointKind   struct{}
	deliveryKind   struct{}
	attemptKind    struct{}
	secretKind     struct{}
	requestKind    struct{}
	auditKind      struct{}
	sessionKind    struct{}
	invitationKind struct{}
	mailKind       struct{}
	alertKind      struct{}
	operationKind  struct{}
	claimKind      struct{}
	factKind       struct{}

	reconciliationKind struct{}
)

func (accountKind) Prefix() string    { return "acc" }
func (userKind) Prefix() string       { return "usr" }
func (keyKind) Prefix() string        { return "key" }
func (sourceKind) Prefix() string     { return "src" }
func (eventKind) Prefix() string      { return "evt" }
func (endpointKind) Prefix() string   { return "ep" }
func (deliveryKind) Prefix() string   { return "dlv" }
func (attemptKind) Prefix() string    { return "att" }
func (secretKind) Prefix() string     { return "sec" }
func (requestKind) Prefix() string    { return "req" }
func (auditKind) Prefix() string      { return "aud" }
func (sessionKind) Prefix() string    { return "ses" }
func (invitationKind) Prefix() string { return "inv" }
func (mailKind) Prefix() string       { return "eml" }
func (alertKind) Prefix() string      { return "alt" }
func (operationKind) Prefix() string  { return "op" }
func (claimKind) Prefix() string      { return "clm" }
func (factKind) Prefix() string       { return "fct" }

func (reconciliationKind) Prefix() string { return "rec" }

// AnyID is an id of whatever kind, for functions that serve them all.
type AnyID interface {
	~[16]byte
	// Prefix is the kind's, as Kind.Prefix.
	Prefix() string
	// String is the public form.
	String() string
	// Time is when the object was made.
	Time() time.Time
}

// crockford is Crockford's base32 alphabet in lower case: no i, l, o, u.
const crockford = "0123456789abcdefghjkmnpqrstvwxyz"

// encodedLen is the number of base32 characters that 128 bits need.
const encodedLen = 26

var crockfordValue = func() (v [256]byte) {
	for i := range v {
		v[i] = 0xff
	}
	for i := range crockford {
		v[crockford[i]] = byte(i)
	}
	return v
}()

// String returns the id as people and the API see it: prefix, underscore and
// 26 characters.
func (id ID[K]) String() string {
	var k K
	prefix := k.Prefix()
	out := make([]byte, 0, len(prefix)+1+encodedLen)
	out = append(out, prefix...)
	out = append(out, '_')
	return string(appendCrockford(out, id))
}

// appendCrockford appends 16 bytes as 26 characters of five bits; the first
// character carries three.
func appendCrockford(out []byte, raw [16]byte) []byte {
	hi, lo := binary.BigEndian.Uint64(raw[:8]), binary.BigEndian.Uint64(raw[8:])
	for i := encodedLen - 1; i >= 0; i-- {
		shift := uint(i) * 5
		var five uint64
		switch {
		case shift >= 64:
			five = hi >> (shift - 64)
		case shift == 0:
			five = lo
		default:
			five = lo>>shift | hi<<(64-shift)
		}
		out = append(out, crockford[five&31])
	}
	return out
}

// Prefix is the prefix of the id's kind.
func (id ID[K]) Prefix() string {
	var k K
	return k.Prefix()
}

// ParseID reads an id of one kind. Only the exact form that String writes is
// accepted, so that each object has one spelling; anything else is ErrBadID.
func ParseID[I AnyID](text string) (I, error) {
	var id I
	digits, ok := strings.CutPrefix(text, id.Prefix()+"_")
	if !ok || len(digits) != encodedLen || digits[0] > '7' {
		return id, fmt.Errorf("%w: want %s_ and %d characters", ErrBadID, id.Prefix(), encodedLen)
	}
	var hi, lo uint64
	for i := range len(digits) {
		v := crockfordValue[digits[i]]
		if v == 0xff {
			return id, fmt.Errorf("%w: a character is not base32", ErrBadID)
		}
		hi = hi<<5 | lo>>59
		lo = lo<<5 | uint64(v)
	}
	var raw [16]byte
	binary.BigEndian.PutUint64(raw[:8], hi)
	binary.BigEndian.PutUint64(raw[8:], lo)
	return I(raw), nil
}

// LooksLikeID tells whether a text has the form of an id of any kind: a short
// prefix, an underscore, 26 base32 characters. A caller's own name (uid) must
// not, so that a path segment is always the one or the other.
func LooksLikeID(text string) bool {
	prefix, digits, ok := strings.Cut(text, "_")
	if !ok || len(digits) != encodedLen || len(prefix) < 2 || len(prefix) > 3 {
		return false
	}
	for i := range len(digits) {
		if crockfordValue[digits[i]] == 0xff {
			return false
		}
	}
	return true
}

// MarshalText writes the id as String does; JSON uses it.
func (id ID[K]) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText reads what MarshalText writes.
func (id *ID[K]) UnmarshalText(text []byte) error {
	parsed, err := ParseID[ID[K]](string(text))
	if err != nil {
		return err
	}
	*id = parsed
	return nil
}

// UUID returns the sixteen bytes, for the database.
func (id ID[K]) UUID() [16]byte { return id }

// SetUUID sets the sixteen bytes, from the database.
func (id *ID[K]) SetUUID(raw [16]byte) { *id = raw }

// IsZero tells whether the id was never set.
func (id ID[K]) IsZero() bool { return id == ID[K]{} }

// Time returns the millisecond at which the id (or, for a derived id, its
// event's id) was made, in UTC.
func (id ID[K]) Time() time.Time {
	ms := binary.BigEndian.Uint64(id[:8]) >> 16
	return time.UnixMilli(int64(ms)).UTC()
}

// FirstIDAt returns the smallest id that can be made at or after t: the lower
// bound of a partition, a page or a time filter. It is no valid UUIDv7 itself.
func FirstIDAt[I ~[16]byte](t time.Time) I {
	var raw [16]byte
	ms := max(t.UnixMilli(), 0)
	binary.BigEndian.PutUint64(raw[:8], uint64(ms)<<16)
	return I(raw)
}

// Compare orders ids as the database does: by their bytes, so by time.
func (id ID[K]) Compare(other ID[K]) int { return bytes.Compare(id[:], other[:]) }
