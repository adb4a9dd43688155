package gateway

import (
	"errors"
	"fmt"
)

// What can be wrong with a call, whoever makes it. One table in the server
// turns each into an answer; the store returns them for broken constraints
// and for guards that changed no row.
var (
	// ErrNotFound: no such object in this account.
	ErrNotFound = errors.New("not found")
	// ErrExpired: the object existed and its retention is over.
	ErrExpired = errors.New("expired")
	// ErrPayloadGone: the event is there, its payload was deleted.
	ErrPayloadGone = errors.New("payload deleted")
	// ErrUIDTaken: another object of the account has this uid.
	ErrUIDTaken = errors.New("uid is taken")
	// ErrNameTaken: the account has declared an event type of this name.
	ErrNameTaken = errors.New("name is taken")
	// ErrEmailTaken: another user has this address.
	ErrEmailTaken = errors.New("email is taken")
	// ErrBuiltIn: the object is part of the product and cannot be changed.
	ErrBuiltIn = errors.New("built in")
	// ErrKeyReused: an idempotency key came again with another content.
	ErrKeyReused = errors.New("idempotency key reused")
	// ErrDeliveryInFlight: the delivery is being sent at this moment.
	ErrDeliveryInFlight = errors.New("delivery in flight")
	// ErrDeliveryChanged: the delivery is not in the state that the caller saw.
	ErrDeliveryChanged = errors.New("delivery changed")
	// ErrAttemptsUsedUp: the delivery has had MaxReopenedAttempts attempts.
	ErrAttemptsUsedUp = errors.New("attempts used up")
	// ErrNotActive: the endpoint was deleted or takes no deliveries now.
	ErrNotActive = errors.New("endpoint not active")
	// ErrStateChanged: the object is not in a state in which this can be done.
	ErrStateChanged = errors.New("not possible in this state")
	// ErrListenerConnected: another program listens already; see
	// ListenerHeldError.
	ErrListenerConnected = errors.New("another listener is connected")
	// ErrNobodyListens: the endpoint is of the kind listen, and no listener is
	// connected.
	ErrNobodyListens = errors.New("nobody listens")
	// ErrHasAddress: the endpoint is sent to at its URL, and cannot be listened
	// for.
	ErrHasAddress = errors.New("the endpoint has an address")
	// ErrLastSecret: an endpoint keeps at least one live signing secret.
	ErrLastSecret = errors.New("last live secret")
	// ErrTooManySecrets: MaxLiveSecrets are live.
	ErrTooManySecrets = errors.New("too many live secrets")
	// ErrSecretEnded: the secret has ended; one that has stays so.
	ErrSecretEnded = errors.New("secret has ended")
	// ErrSecretEndless: the secret has no end that could be put off.
	ErrSecretEndless = errors.New("secret has no end")
	// ErrLimitReached: the account has as many of these as it may.
	ErrLimitReached = errors.New("limit reached")
	// ErrNoEvent: the request asked for an answer, and can be no event.
	ErrNoEvent = errors.New("request is no event")
	// ErrAlreadyAccepted: the request was taken in already.
	ErrAlreadyAccepted = errors.New("request already accepted")
	// ErrRequestCut: not all of the request's body was kept.
	ErrRequestCut = errors.New("request was cut")
	// ErrBodyReplayed: what may come once within a window has come before.
	ErrBodyReplayed = errors.New("body replayed")
	// ErrAddressNotAllowed: the sender's address is not one that the source takes.
	ErrAddressNotAllowed = errors.New("address not allowed")
	// ErrClaimInProgress: somebody else holds the claim; see ClaimHeldError.
	ErrClaimInProgress = errors.New("claim in progress")
	// ErrClaimDone: the receiver has confirmed the fact already.
	ErrClaimDone = errors.New("claim done")
	// ErrFenceStale: the claim is no longer the caller's.
	ErrFenceStale = errors.New("fence is stale")
	// ErrLastOwner: an account keeps at least one owner.
	ErrLastOwner = errors.New("last owner")
	// ErrOwnerNeeded: owners alone can do it.
	ErrOwnerNeeded = errors.New("owner needed")
	// ErrMember: the person is a member already.
	ErrMember = errors.New("already a member")
	// ErrInvited: the address has an invitation that waits.
	ErrInvited = errors.New("already invited")
	// ErrRateLimited: too many calls in the time; see RateLimitedError.
	ErrRateLimited = errors.New("rate limited")
	// ErrOverloaded: the queue is full; nothing was stored.
	ErrOverloaded = errors.New("overloaded")
	// ErrUnavailable: the database refuses or cannot be reached; nothing is
	// known to be stored.
	ErrUnavailable = errors.New("database unavailable")
)

// InvalidError says what is wrong with one field of an input.
type InvalidError struct {
	// Field is the field's name as the caller wrote it, e.g. "url".
	Field string
	// Code is stable and machine-readable, e.g. "type_reserved"; empty means
	// "invalid".
	Code string
	// Detail is a sentence for people. It never repeats the value.
	Detail string
}

// Error tells field and detail.
func (e *InvalidError) Error() string { return e.Field + ": " + e.Detail }

// Invalid makes an InvalidError without a code of its own.
func Invalid(field, format string, args ...any) error {
	return &InvalidError{Field: field, Detail: fmt.Sprintf(format, args...)}
}
