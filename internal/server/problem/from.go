package problem

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/rowlock/rowlock/internal/accept"
	"github.com/rowlock/rowlock/internal/account"
	"github.com/rowlock/rowlock/internal/claim"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/reconcile"
	"github.com/rowlock/rowlock/internal/server/body"
	"github.com/rowlock/rowlock/internal/signature"
)

const (
	// retryUnavailable is when to try again while the database is away: a
	// fail-over takes some seconds.
	retryUnavailable = 5 * time.Second
	// retryOverloaded is when to try again when the accept queue is full: it
	// empties within a second.
	retryOverloaded = time.Second
)

// bySentinel is the one table from what went wrong to the answer.
var bySentinel = []struct {
	err  error
	code Code
}{
	{gateway.ErrUnavailable, Unavailable},
	{gateway.ErrOverloaded, Overloaded},
	{context.DeadlineExceeded, Unavailable},
	{context.Canceled, Unavailable}, // nobody is there to read it
	{gateway.ErrRateLimited, RateLimited},
	{gateway.ErrBadID, NotFound},
	{gateway.ErrNotFound, NotFound},
	{gateway.ErrExpired, Expired},
	{gateway.ErrPayloadGone, PayloadDeleted},
	{gateway.ErrUIDTaken, UIDTaken},
	{gateway.ErrNameTaken, NameTaken},
	{gateway.ErrEmailTaken, EmailTaken},
	{gateway.ErrLastOwner, LastOwner},
	{gateway.ErrOwnerNeeded, OwnerNeeded},
	{gateway.ErrMember, AlreadyMember},
	{gateway.ErrInvited, AlreadyInvited},
	{gateway.ErrBuiltIn, BuiltIn},
	{gateway.ErrKeyReused, KeyReused},
	{gateway.ErrDeliveryInFlight, DeliveryInFlight},
	{gateway.ErrDeliveryChanged, DeliveryChanged},
	{gateway.ErrAttemptsUsedUp, AttemptsUsedUp},
	{gateway.ErrNotActive, EndpointInactive},
	{gateway.ErrStateChanged, StateChanged},
	{gateway.ErrLastSecret, LastSecret},
	{gateway.ErrTooManySecrets, TooManySecrets},
	{gateway.ErrSecretEnded, SecretEnded},
	{gateway.ErrSecretEndless, SecretEndless},
	{gateway.ErrLimitReached, LimitReached},
	{gateway.ErrNoEvent, NotAnEvent},
	{gateway.ErrAlreadyAccepted, AlreadyAccepted},
	{gateway.ErrRequestCut, RequestCut},
	{gateway.ErrBodyReplayed, BodyReplayed},
	{gateway.ErrAddressNotAllowed, AddressNotAllowed},
	{gateway.ErrListenerConnected, ListenerConnected},
	{gateway.ErrNobodyListens, NobodyListens},
	{gateway.ErrHasAddress, HasAddress},
	{gateway.ErrClaimInProgress, ClaimInProgress},
	{gateway.ErrClaimDone, ClaimDone},
	{gateway.ErrFenceStale, FenceStale},
	{body.ErrTimeout, RequestTimeout},
	{body.ErrBroken, BadRequest},
}

// From turns an error of a use case, the store or the reading of a request
// into the answer. An error that it does not know is a fault of ours.
func From(err error) *Problem {
	if p, ok := errors.AsType[*Problem](err); ok {
		return p
	}
	if p := fromDetailed(err); p != nil {
		return p
	}
	for _, known := range bySentinel {
		if errors.Is(err, known.err) {
			return withRetry(New(known.code, ""))
		}
	}
	return New(Internal, "")
}

// fromDetailed knows the errors that carry more than what they are.
func fromDetailed(err error) *Problem {
	if faults := Invalids(err); len(faults) > 0 {
		return fromInvalid(faults, inBody)
	}
	if e, ok := errors.AsType[*signature.Refusal](err); ok {
		refused := New(Code(e.Code), e.Detail)
		refused.Status = e.Answer()
		return refused
	}
	if e, ok := errors.AsType[*accept.RateLimitedError](err); ok {
		return rateLimited(e)
	}
	if e, ok := errors.AsType[*account.TooSoonError](err); ok {
		return New(RateLimited, "").RetryAfter(e.Left)
	}
	if e, ok := errors.AsType[*claim.HeldError](err); ok {
		return New(ClaimInProgress, "").RetryAfter(e.Left)
	}
	if e, ok := errors.AsType[*gateway.ListenerHeldError](err); ok {
		return New(ListenerConnected, fmt.Sprintf("Another listener is connected from %q since %s. Stop it, or listen with an endpoint of your own.", e.Host, e.ConnectedAt.UTC().Format(time.RFC3339)))
	}
	if e, ok := errors.AsType[*reconcile.ListError](err); ok {
		return unreadable(e)
	}
	if e, ok := errors.AsType[*body.TooLargeError](err); ok {
		return New(PayloadTooLarge, fmt.Sprintf("The body is larger than %d bytes, which is the limit.", e.Limit))
	}
	return nil
}

func unreadable(e *reconcile.ListError) *Problem {
	if e.TooLarge {
		return New(PayloadTooLarge, e.Why)
	}
	return New(ListUnreadable, e.Why)
}

// Invalids collects the faults of an input: a use case joins several.
func Invalids(err error) []*gateway.InvalidError {
	switch e := err.(type) { //nolint:errorlint // it walks the tree itself
	case *gateway.InvalidError:
		return []*gateway.InvalidError{e}
	case interface{ Unwrap() error }:
		return Invalids(e.Unwrap())
	case interface{ Unwrap() []error }:
		var all []*gateway.InvalidError
		for _, one := range e.Unwrap() {
			all = append(all, Invalids(one)...)
		}
		return all
	default:
		return nil
	}
}

// Locate places the faults of an input that does not stand in the body as its
// use case thinks: in an array, or partly in a header. Errors without such
// faults stay as they are.
func Locate(err error, place func(field string) string) error {
	if _, done := errors.AsType[*Problem](err); done {
		return err
	}
	if faults := Invalids(err); len(faults) > 0 {
		return fromInvalid(faults, place)
	}
	return err
}

// inBody is where a field of an input commonly stands.
func inBody(field string) string { return "body." + field }

// fromInvalid takes the first code that says more than "invalid".
func fromInvalid(invalid []*gateway.InvalidError, place func(field string) string) *Problem {
	code := Invalid
	faults := make([]Fault, len(invalid))
	for i, e := range invalid {
		faults[i] = Fault{Message: e.Detail, Location: place(e.Field)}
		if code == Invalid && e.Code != "" {
			code = Code(e.Code)
		}
	}
	return New(code, "", faults...)
}

// rateLimited tells the limit in the headers that clients look for. A limit of
// zero is not a rate but the account's storage.
func rateLimited(e *accept.RateLimitedError) *Problem {
	if e.Limit == 0 {
		return New(StorageFull, e.Detail).RetryAfter(e.Retry)
	}
	return New(RateLimited, e.Detail).RetryAfter(e.Retry).
		With("RateLimit-Limit", strconv.Itoa(e.Limit)).
		With("RateLimit-Remaining", "0").
		With("RateLimit-Reset", strconv.Itoa(seconds(e.Retry)))
}

func withRetry(p *Problem) *Problem {
	switch p.Code {
	case Unavailable:
		return p.RetryAfter(retryUnavailable)
	case Overloaded, RateLimited:
		return p.RetryAfter(retryOverloaded)
	case Unauthorized:
		return p.With("WWW-Authenticate", "Bearer")
	default:
		return p
	}
}

// FromStatus is for what the router and net/http refuse before any code of
// ours has seen it.
func FromStatus(status int) *Problem {
	switch status {
	case http.StatusNotFound:
		return New(NotFound, "There is nothing at this address.")
	case http.StatusMethodNotAllowed:
		return New(MethodNotAllowed, "")
	case http.StatusRequestEntityTooLarge:
		return New(PayloadTooLarge, "")
	case http.StatusUnauthorized:
		return withRetry(New(Unauthorized, ""))
	case http.StatusUnprocessableEntity:
		return New(Invalid, "")
	}
	if status >= http.StatusBadRequest && status < http.StatusInternalServerError {
		return New(BadRequest, "")
	}
	return New(Internal, "")
}
