package problem_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/accept"
	"github.com/rowlock/rowlock/internal/account"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/server/body"
	"github.com/rowlock/rowlock/internal/server/problem"
	"github.com/rowlock/rowlock/internal/signature"
)

func TestFromError(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err    error
		status int
		code   problem.Code
	}{
		{gateway.ErrNotFound, 404, problem.NotFound},
		{gateway.ErrBadID, 404, problem.NotFound},
		{gateway.ErrExpired, 410, problem.Expired},
		{gateway.ErrPayloadGone, 410, problem.PayloadDeleted},
		{gateway.ErrUIDTaken, 409, problem.UIDTaken},
		{gateway.ErrNameTaken, 409, problem.NameTaken},
		{gateway.ErrEmailTaken, 409, problem.EmailTaken},
		{gateway.ErrBuiltIn, 409, problem.BuiltIn},
		{gateway.ErrKeyReused, 422, problem.KeyReused},
		{gateway.ErrDeliveryInFlight, 409, problem.DeliveryInFlight},
		{gateway.ErrDeliveryChanged, 409, problem.DeliveryChanged},
		{gateway.ErrAttemptsUsedUp, 409, problem.AttemptsUsedUp},
		{gateway.ErrNotActive, 409, problem.EndpointInactive},
		{gateway.ErrStateChanged, 409, problem.StateChanged},
		{gateway.ErrLastSecret, 409, problem.LastSecret},
		{gateway.ErrTooManySecrets, 409, problem.TooManySecrets},
		{gateway.ErrSecretEnded, 409, problem.SecretEnded},
		{gateway.ErrSecretEndless, 409, problem.SecretEndless},
		{gateway.ErrLimitReached, 409, problem.LimitReached},
		{gateway.ErrRateLimited, 429, problem.RateLimited},
		{gateway.ErrOverloaded, 503, problem.Overloaded},
		{gateway.ErrUnavailable, 503, problem.Unavailable},
		{errors.Join(gateway.ErrUnavailable, gateway.ErrNotFound), 503, problem.Unavailable},
		{context.DeadlineExceeded, 503, problem.Unavailable},
		{context.Canceled, 503, problem.Unavailable},
		{body.ErrTimeout, 408, problem.RequestTimeout},
		{body.ErrBroken, 400, problem.BadRequest},
		{&body.TooLargeError{Limit: 7}, 413, problem.PayloadTooLarge},
		{&signature.Refusal{Code: signature.CodeMissing}, 401, problem.SigMissing},
		{&signature.Refusal{Code: signature.CodeMalformed}, 401, problem.SigMalformed},
		{&signature.Refusal{Code: signature.CodeTimestamp}, 401, problem.SigTimestamp},
		{&signature.Refusal{Code: signature.CodeMismatch}, 401, problem.SigMismatch},
		{gateway.Invalid("url", "want one"), 422, problem.Invalid},
		{gateway.SubjectRequired(), 422, problem.SubjectNeeded},
		{gateway.CheckPublishedType("rowlock.x"), 422, problem.TypeReserved},
		{&gateway.InvalidError{Field: "x", Code: "new_code"}, 422, "new_code"},
		{&accept.RateLimitedError{Limit: 5, Retry: time.Second}, 429, problem.RateLimited},
		{&account.TooSoonError{}, 429, problem.RateLimited},
		{&accept.RateLimitedError{Retry: time.Hour, Detail: "full"}, 429, problem.StorageFull},
		{problem.New(problem.InvalidCursor, ""), 422, problem.InvalidCursor},
		{errors.New("hunter2"), 500, problem.Internal},
	} {
		for _, err := range []error{c.err, fmt.Errorf("do something: %w", c.err)} {
			if p := problem.From(err); p.Status != c.status || p.Code != c.code || p.Detail == "" || p.Detail == "hunter2" {
				t.Errorf("From(%v) = %+v, want %d %s", err, p, c.status, c.code)
			}
		}
	}
}

func TestTemporaryProblemsSayWhenToTryAgain(t *testing.T) {
	t.Parallel()
	for _, err := range []error{
		gateway.ErrUnavailable, gateway.ErrOverloaded, gateway.ErrRateLimited,
		&accept.RateLimitedError{Retry: 2500 * time.Millisecond}, &accept.RateLimitedError{Limit: 5},
	} {
		if wait := problem.From(err).GetHeaders().Get("Retry-After"); wait == "" || wait == "0" {
			t.Errorf("%v: Retry-After %q", err, wait)
		}
	}
	if wait := problem.From(&accept.RateLimitedError{Retry: 2500 * time.Millisecond}).GetHeaders().Get("Retry-After"); wait != "3" {
		t.Errorf("2.5 s: %q", wait)
	}
	if wait := problem.From(&account.TooSoonError{Left: time.Hour}).GetHeaders().Get("Retry-After"); wait != "3600" {
		t.Errorf("an hour: %q", wait)
	}
}

func TestEveryInvalidFieldIsTold(t *testing.T) {
	t.Parallel()
	err := fmt.Errorf("check: %w", errors.Join(
		gateway.Invalid("url", "want one"),
		errors.Join(&gateway.InvalidError{Field: "type", Code: "type_reserved", Detail: "is ours"}),
	))
	p := problem.From(err)
	want := []problem.Fault{{Message: "want one", Location: "body.url"}, {Message: "is ours", Location: "body.type"}}
	if diff := cmp.Diff(want, p.Errors); diff != "" || p.Code != problem.TypeReserved {
		t.Errorf("%s %s", p.Code, diff)
	}
}

func TestLocate(t *testing.T) {
	t.Parallel()
	place := func(field string) string { return "body.events[6]." + field }
	err := problem.Locate(fmt.Errorf("publish: %w", gateway.Invalid("type", "want one")), place)
	p := problem.From(err)
	want := []problem.Fault{{Message: "want one", Location: "body.events[6].type"}}
	if diff := cmp.Diff(want, p.Errors); diff != "" || p.Detail != "body.events[6].type: want one" {
		t.Errorf("%q %s", p.Detail, diff)
	}
	for _, other := range []error{gateway.ErrNotFound, problem.At("query.x", "no"), nil} {
		if got := problem.Locate(other, place); !errors.Is(got, other) {
			t.Errorf("Locate(%v) = %v", other, got)
		}
	}
}

func TestWrite(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	if err := problem.From(gateway.ErrUnavailable).Write(w); err != nil {
		t.Fatal(err)
	}
	if w.Code != 503 || w.Header().Get("Content-Type") != "application/problem+json" || w.Header().Get("Retry-After") == "" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	var got map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	for _, field := range []string{"type", "title", "status", "detail", "code"} {
		if got[field] == nil {
			t.Errorf("no %s in %s", field, w.Body)
		}
	}
}
