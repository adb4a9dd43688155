package problem

import (
	"net/http"

	"github.com/rowlock/rowlock/internal/egress"
	"github.com/rowlock/rowlock/internal/gateway"
)

// Code is the stable, machine-readable name of a problem.
type Code string

// The codes. They are part of the API: one is never renamed, and never comes
// with another status.
const (
	InvalidJSON      Code = "invalid_json"
	BadRequest       Code = "bad_request"
	Unauthorized     Code = "unauthorized"
	ScopeMissing     Code = "scope_missing"
	NotFound         Code = "not_found"
	MethodNotAllowed Code = "method_not_allowed"
	RequestTimeout   Code = "request_timeout"

	UIDTaken         Code = "uid_taken"
	NameTaken        Code = "name_taken"
	EmailTaken       Code = "email_taken"
	LastOwner        Code = "last_owner"
	AccountClosing   Code = "account_closing"
	OwnerNeeded      Code = "owner_needed"
	AlreadyMember    Code = "already_member"
	AlreadyInvited   Code = "already_invited"
	BuiltIn          Code = "built_in"
	DeliveryInFlight Code = "delivery_in_flight"
	DeliveryChanged  Code = "delivery_changed"
	AttemptsUsedUp   Code = "attempts_used_up"
	EndpointInactive Code = "endpoint_not_active"
	StateChanged     Code = "state_changed"
	LastSecret       Code = "last_secret"
	TooManySecrets   Code = "too_many_secrets"
	SecretEnded      Code = "secret_ended"
	SecretEndless    Code = "secret_has_no_end"
	LimitReached     Code = "limit_reached"

	ListenerConnected Code = "listener_connected"
	NobodyListens     Code = "nobody_listens"
	HasAddress        Code = "endpoint_has_address"

	NotAnEvent        Code = "not_an_event"
	AlreadyAccepted   Code = "already_accepted"
	RequestCut        Code = "request_cut"
	NotProven         Code = "not_proven"
	BodyReplayed      Code = "body_replayed"
	AddressNotAllowed Code = "address_not_allowed"

	ClaimInProgress Code = "claim_in_progress"
	ClaimDone       Code = "claim_done"
	FenceStale      Code = "fence_stale"

	Expired        Code = "expired"
	PayloadDeleted Code = "payload_deleted"

	ListUnreadable Code = "list_unreadable"

	PayloadTooLarge Code = "payload_too_large"
	EncodingRefused Code = "content_encoding_refused"

	Invalid       Code = "invalid"
	InvalidCursor Code = "invalid_cursor"
	TypeReserved  Code = "type_reserved"
	SubjectNeeded Code = gateway.CodeSubjectRequired
	SchemaBroken  Code = gateway.CodeSchemaViolated
	KeyReused     Code = "idempotency_key_reused"
	TooManyEvents Code = "too_many_events"
	RateLimited   Code = "rate_limited"
	StorageFull   Code = "storage_full"
	Internal      Code = "internal"
	Overloaded    Code = "overloaded"
	Unavailable   Code = "unavailable"
	Stopping      Code = "stopping"
	SigMissing    Code = "signature_missing"
	SigMalformed  Code = "signature_malformed"
	SigTimestamp  Code = "timestamp_out_of_range"
	SigMismatch   Code = "signature_mismatch"
)

// Meaning is what a code always says.
type Meaning struct {
	Code Code
	// Status is the HTTP status.
	Status int
	// Title is the same for every occurrence.
	Title string
	// Advice says what to do about it.
	Advice string
}

// Ingest tells that it is an answer to the senders of events alone.
func (m Meaning) Ingest() bool {
	switch m.Code {
	case SigMissing, SigMalformed, SigTimestamp, SigMismatch, BodyReplayed:
		return true
	default:
		return false
	}
}

// Meanings is every code, by status, for answers and for the documentation.
var Meanings = []Meaning{
	{InvalidJSON, http.StatusBadRequest, "The body is not JSON", "Send one JSON object, in UTF-8."},
	{BadRequest, http.StatusBadRequest, "The request cannot be read", "Check what stands between you and the server: the request did not arrive whole."},
	{Unauthorized, http.StatusUnauthorized, "No valid API key", "Send Authorization: Bearer rk_… with a key that has neither ended nor been revoked."},
	{SigMissing, http.StatusUnauthorized, "The signature is missing", "Check that the provider signs, and that no proxy removes the header."},
	{SigMalformed, http.StatusUnauthorized, "The signature cannot be read", "Check that the source's kind is the provider's."},
	{SigTimestamp, http.StatusUnauthorized, "The signed time is out of range", "Check the sender's clock, or widen the source's tolerance."},
	{SigMismatch, http.StatusUnauthorized, "The signature does not match", "Check the source's secret, and that no proxy changes the body."},
	{ScopeMissing, http.StatusForbidden, "The API key lacks a scope", "Use a key with the scope that the operation names."},
	{AddressNotAllowed, http.StatusForbidden, "The sender's address is not allowed", "Add the address to those of the source or the API key, or send from one of them."},
	{OwnerNeeded, http.StatusForbidden, "An owner is needed", "Owners are made, changed and removed by owners, in the dashboard: no API key is one."},
	{NotFound, http.StatusNotFound, "Not found", "Check the path and the id, and that the key belongs to the object's account."},
	{MethodNotAllowed, http.StatusMethodNotAllowed, "Method not allowed", "The Allow header lists the methods of this path."},
	{RequestTimeout, http.StatusRequestTimeout, "The body did not arrive in time", "Send it again, faster."},
	{UIDTaken, http.StatusConflict, "The uid is taken", "Another object of the account has this uid. Choose another."},
	{NameTaken, http.StatusConflict, "The name is taken", "An event type of this name is declared already: change it, or choose another name."},
	{EmailTaken, http.StatusConflict, "The address is taken", "Another user has this address."},
	{AccountClosing, http.StatusConflict, "The account is about to be deleted", "Until then events are kept and everything can be read; nothing can be changed unless an owner restores the account."},
	{LastOwner, http.StatusConflict, "The last owner", "An account always has an owner: make another one first."},
	{AlreadyMember, http.StatusConflict, "Already a member", "The address is a member's. Change their role instead."},
	{AlreadyInvited, http.StatusConflict, "Already invited", "The address has an invitation that waits: send it again, or revoke it first."},
	{BuiltIn, http.StatusConflict, "Built in", "The object is part of the product: it can be read, and nothing else."},
	{NotAnEvent, http.StatusConflict, "The request is no event", "It asked for an answer, or offered a secret. Mend what it was refused for, and have the provider send it again."},
	{AlreadyAccepted, http.StatusConflict, "Already taken in", "The request is an event already, or repeats one."},
	{RequestCut, http.StatusConflict, "The request was not kept whole", "Its body was longer than what is kept of a refused request. Have the provider send it again."},
	{NotProven, http.StatusConflict, "The request is still not proven", "Mend the source's secret and try again, or give a reason in override."},
	{BodyReplayed, http.StatusConflict, "The body was taken in before", "The source refuses a body that it has seen within its replay_guard, under whatever id."},
	{DeliveryInFlight, http.StatusConflict, "The delivery is being sent", "Wait for the end of the attempt."},
	{DeliveryChanged, http.StatusConflict, "The delivery has changed", "Read it again: it is no longer in the state that you saw."},
	{AttemptsUsedUp, http.StatusConflict, "The attempts are used up", "The delivery has had as many attempts as one can have."},
	{EndpointInactive, http.StatusConflict, "The endpoint is gone", "It was deleted: nothing can be sent to it any more."},
	{StateChanged, http.StatusConflict, "Not possible in this state", "Read the object again: in its state this cannot be done."},
	{LastSecret, http.StatusConflict, "The last live secret", "Rotate the secret before you end it."},
	{TooManySecrets, http.StatusConflict, "Too many live secrets", "End one first, or rotate with a shorter overlap."},
	{SecretEnded, http.StatusConflict, "The secret has ended", "Nothing is signed with it any more, and nothing will be. Rotate to another one."},
	{SecretEndless, http.StatusConflict, "The secret has no end", "It signs until it is rotated: there is no end to put off."},
	{LimitReached, http.StatusConflict, "Limit reached", "The account has as many of these as it may."},
	{ListenerConnected, http.StatusConflict, "Another listener is connected", "One listens for an endpoint at a time. Stop the other one, or listen with an endpoint of your own."},
	{NobodyListens, http.StatusConflict, "Nobody listens", "No listener is connected. Run rowlock listen for this endpoint, and try again."},
	{HasAddress, http.StatusConflict, "The endpoint has an address", "It is sent to at its URL. Listen with an endpoint of the kind listen."},
	{ClaimInProgress, http.StatusConflict, "Somebody else holds the claim", "Try again after the time in Retry-After: by then it is done, released, or its lease has ended."},
	{ClaimDone, http.StatusConflict, "The fact is confirmed", "The endpoint has confirmed it, under this delivery or another. Give a reason in override_claim to send it a second time."},
	{FenceStale, http.StatusConflict, "The claim is not yours any more", "Your lease ended and somebody else claimed it, or a person stepped in. Do not do the work: read the claim to see how it stands."},
	{Expired, http.StatusGone, "Expired", "The object's retention is over."},
	{PayloadDeleted, http.StatusGone, "The payload was deleted", "The event is there; its payload was deleted and cannot be had back."},
	{PayloadTooLarge, http.StatusRequestEntityTooLarge, "Too large", "Send less: put large things elsewhere and their address into the data."},
	{EncodingRefused, http.StatusUnsupportedMediaType, "The body is encoded", "Send the body as it is, without Content-Encoding."},
	{Invalid, http.StatusUnprocessableEntity, "The request is not valid", "The errors say what is wrong, and where."},
	{ListUnreadable, http.StatusUnprocessableEntity, "The list cannot be read", "Mend what the detail says and upload it again. Nothing was compared."},
	{InvalidCursor, http.StatusUnprocessableEntity, "Not a cursor of this list", "Use next_cursor of the same list as it came, or begin without one."},
	{TypeReserved, http.StatusUnprocessableEntity, "The event type is reserved", "Types that begin with rowlock. are Rowlock's own. Choose another."},
	{SubjectNeeded, http.StatusUnprocessableEntity, "The subject is missing", "Events of a single-fire type reach an endpoint once for each subject: say what the event is about."},
	{SchemaBroken, http.StatusUnprocessableEntity, "The data breaks the type's schema", "The errors say where. Mend the data, or the schema of the event type."},
	{egress.CodeURLInvalid, http.StatusUnprocessableEntity, "Not a URL", "Give a whole address, such as https://example.com/hooks."},
	{egress.CodeURLScheme, http.StatusUnprocessableEntity, "The URL's scheme", "Begin it with https:// or http://."},
	{egress.CodeURLHost, http.StatusUnprocessableEntity, "The URL's host", "Name a host that can exist."},
	{egress.CodeURLPort, http.StatusUnprocessableEntity, "The URL's port", "Ports are 1 to 65535."},
	{egress.CodeURLCredentials, http.StatusUnprocessableEntity, "Credentials in the URL", "Take user and password out; a header can carry them."},
	{egress.CodeURLFragment, http.StatusUnprocessableEntity, "A fragment in the URL", "Take it out: it is never sent."},
	{egress.CodeURLPlainHTTP, http.StatusUnprocessableEntity, "Plain http", "Use https, or have the network allowed with ROWLOCK_ALLOW_NETWORKS."},
	{egress.CodeURLAddress, http.StatusUnprocessableEntity, "A forbidden address", "Use a public address. Private ones have to be allowed where Rowlock runs, and some never are."},
	{KeyReused, http.StatusUnprocessableEntity, "The idempotency key was used for another event", "Use a new key, or send exactly what was sent with it first."},
	{TooManyEvents, http.StatusUnprocessableEntity, "Too many events", "Send at most 1,000 events in one request."},
	{RateLimited, http.StatusTooManyRequests, "Too many requests", "Nothing was stored. Try again after the time in Retry-After."},
	{StorageFull, http.StatusTooManyRequests, "The account's storage is full", "Nothing was stored. Delete payloads, wait until old ones are past their retention, or have ROWLOCK_ACCOUNT_STORED_BYTES raised."},
	{Internal, http.StatusInternalServerError, "A fault of ours", "Try again. The server's log has more, under the answer's X-Request-Id."},
	{Overloaded, http.StatusServiceUnavailable, "Too much to do", "Nothing was stored. Try again after the time in Retry-After."},
	{Unavailable, http.StatusServiceUnavailable, "The database cannot be reached", "Try again after the time in Retry-After."},
	{Stopping, http.StatusServiceUnavailable, "The server is stopping", "Nothing was stored. Try again: another one answers, or this one when it is back."},
}

var byCode = func() map[Code]Meaning {
	m := make(map[Code]Meaning, len(Meanings))
	for _, meaning := range Meanings {
		m[meaning.Code] = meaning
	}
	return m
}()
