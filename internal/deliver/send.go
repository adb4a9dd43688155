package deliver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/rowlock/rowlock/internal/egress"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/signature"
	"github.com/rowlock/rowlock/internal/store"
)

// sent is a sender's report.
type sent struct {
	store.Result

	answer gateway.Answer
	// eventType is of what was sent; ownEvent tells that it is one of Rowlock's
	// own events.
	eventType string
	ownEvent  bool
	// claim is what it was sent under; nil for a type that is not single-fire.
	claim *store.WonClaim
	// cancelled: we stopped it ourselves, which is no result.
	cancelled bool
	// span is the attempt's, and endSpan ends it; nil where none was begun.
	span    gateway.Span
	endSpan func(*gateway.Attempt)
	// relayed: a listener made the attempt, which holds no slot.
	relayed bool
	// slow is how its slot was counted.
	slow bool
}

// holdsClaim tells whether a claim has to be ended with it. One of which nobody
// knows how it went stays in doubt.
func (r *sent) holdsClaim() bool {
	return r.claim != nil && !r.claim.Overridden && r.Attempt.Outcome != gateway.OutcomeUnknown
}

// start sends what was taken, each in a goroutine that reports to the hold. What
// a listener sends needs no slot of this node.
func (h *hold) start(taken []store.Taken) {
	h.spare -= len(taken)
	h.inFlight += len(taken)
	for _, t := range taken {
		if t.Relayed {
			h.service.slots.release(h.lane.AccountID, h.slow, 1)
			h.relays.await(h.target, t)
			continue
		}
		lane, target, slow := h.lane, h.target, h.slow
		h.service.all.Go(func() {
			r := h.service.send(h.sendCtx, lane, target, t)
			r.slow = slow
			h.results <- r
		})
	}
}

// send makes one attempt and tells what follows from it.
func (s *Service) send(ctx context.Context, lane store.Lane, target store.Target, t store.Taken) *sent {
	r := &sent{eventType: t.EventType, ownEvent: strings.HasPrefix(t.EventType, gateway.OwnTypePrefix), claim: t.Claim}
	timeout := s.sendTime(target, t.Claim)
	switch {
	case t.Body == nil:
		r.Result = notSent(t, gateway.DeliveryCancelled, time.Time{})
		return r
	case timeout <= 0:
		r.Result = notSent(t, gateway.DeliveryPending, s.Clock.Now())
		return r
	}
	r.span, r.endSpan = s.beginSpan(t.Span, s.Clock.Now())
	attempt, answer, cancelled := s.attempt(ctx, target, attemptInput{
		delivery: t.ID, event: t.EventID, n: t.N, eventType: t.EventType, headers: t.Headers, body: t.Body, claim: t.Claim, span: r.span, timeout: timeout,
	})
	attempt.AccountID, attempt.EndpointID, attempt.Trigger = lane.AccountID, lane.EndpointID, t.Trigger
	r.Result = s.conclude(target, t, attempt, answer)
	r.answer, r.cancelled = answer, cancelled
	s.attempted(ctx, r)
	return r
}

// conclude tells what becomes of a delivery after an attempt.
func (s *Service) conclude(target store.Target, t store.Taken, attempt gateway.Attempt, answer gateway.Answer) store.Result {
	policy := gateway.RetryPolicy{Schedule: s.schedule(target), StopOn: target.StopOn}
	status, next := policy.Next(answer, t.Step, s.Clock.Now(), rand.Float64()) //nolint:gosec // spreads load, guards nothing
	if status == gateway.DeliveryPending && t.N >= gateway.MaxAttempts {
		status, next = gateway.DeliveryFailed, time.Time{}
	}
	return store.Result{Attempt: attempt, Status: status, NextAttemptAt: next}
}

// notSent is the result of what was taken and not sent.
func notSent(t store.Taken, status gateway.DeliveryStatus, next time.Time) store.Result {
	return store.Result{
		Attempt: gateway.Attempt{DeliveryID: t.ID, N: t.N, EventID: t.EventID}, Status: status, NextAttemptAt: next, NoAttempt: true,
	}
}

func (s *Service) schedule(target store.Target) []time.Duration {
	if target.RetrySchedule != nil {
		return target.RetrySchedule
	}
	return s.Schedule
}

// attemptInput is what one attempt sends.
type attemptInput struct {
	delivery      gateway.DeliveryID
	event         gateway.EventID
	n             int
	eventType     string
	headers, body []byte
	// claim is what it goes out under; nil for a type that is not single-fire.
	claim *store.WonClaim
	// span is what the receiver is told that it is part of.
	span gateway.Span
	// timeout is the endpoint's where it is zero.
	timeout time.Duration
}

// attempt signs and sends once. cancelled tells that we stopped it.
func (s *Service) attempt(ctx context.Context, target store.Target, in attemptInput) (gateway.Attempt, gateway.Answer, bool) {
	a := gateway.Attempt{DeliveryID: in.delivery, N: in.n, EventID: in.event, StartedAt: s.Clock.Now()}
	header, err := s.header(target, in, a.StartedAt)
	if err != nil {
		a.Outcome, a.ErrorKind, a.Detail = gateway.OutcomeUnreachable, gateway.ErrorBlocked, err.Error()
		return a, gateway.Answer{Outcome: a.Outcome}, false
	}
	a.RequestHeaders = shownHeaders(header, target)
	timeout := cmp.Or(in.timeout, s.timeout(target))
	result := s.Egress.Send(ctx, egress.Request{URL: target.URL, Header: header, Body: in.body, Timeout: timeout, Also: target.Lent})
	a.Duration, a.Timing = result.Took, result.Timing
	a.Outcome, a.ErrorKind, a.Detail, a.StatusCode = result.Outcome, result.Kind, plain(result.Detail), result.Status
	a.ResponseHeaders, a.ResponseBody = gateway.EncodeHeaders(result.Header), result.Body
	return a, gateway.Answer{Outcome: result.Outcome, StatusCode: result.Status, RetryAfter: result.RetryAfter}, result.Cancelled
}

// beginSpan begins the span of an attempt at an event that is traced.
func (s *Service) beginSpan(accepted gateway.Span, began time.Time) (gateway.Span, func(*gateway.Attempt)) {
	if s.Trace == nil || accepted.IsZero() {
		return accepted, nil
	}
	return s.Trace(accepted, began)
}

// asReceived are the headers that tell what the bytes are: they go with them.
var asReceived = []string{"Content-Type", "Content-Encoding"}

// header makes the headers of one attempt: the ids that never change, the time
// and signatures that are new each time, and the endpoint's own.
func (s *Service) header(target store.Target, in attemptInput, now time.Time) (http.Header, error) {
	keys, err := usable(target)
	if err != nil {
		return nil, err
	}
	header := gateway.DecodeHeaders(target.Headers)
	received := gateway.DecodeHeaders(in.headers)
	for _, name := range asReceived {
		if value := received.Get(name); value != "" {
			header.Set(name, value)
		}
	}
	id, unix := in.event.String(), now.Unix()
	header.Set("Webhook-Id", id)
	header.Set("Webhook-Timestamp", strconv.FormatInt(unix, 10))
	header.Set("Webhook-Signature", signature.Sign(keys, id, unix, in.body))
	header.Set("Idempotency-Key", in.delivery.String())
	if in.claim != nil {
		header.Set("Idempotency-Key", in.claim.ID.String())
		header.Set("Rowlock-Fence", strconv.FormatInt(in.claim.Fence, 10))
	}
	header.Set("Rowlock-Event-Type", in.eventType)
	header.Set("Rowlock-Attempt", strconv.Itoa(in.n))
	if !in.span.IsZero() {
		header.Set("Traceparent", in.span.Traceparent())
	}
	header.Set("User-Agent", s.UserAgent)
	if target.Auth.Kind != gateway.AuthNone {
		header.Set("Authorization", target.Auth.Header)
	}
	return header, nil
}

// usable are the keys that sign. Without them, or without what the endpoint
// asks for at its door, nothing is sent.
func usable(target store.Target) ([]signature.SigningKey, error) {
	keys := make([]signature.SigningKey, 0, len(target.Secrets))
	for _, secret := range target.Secrets {
		key, err := signature.ParseSigningKey(secret.Value)
		if err != nil {
			return nil, fmt.Errorf("a signing secret cannot be used: %w", err)
		}
		keys = append(keys, key)
	}
	switch {
	case target.Unsealable:
		return nil, errors.New("a signing secret cannot be opened: rotate it, without an overlap")
	case target.AuthUnsealable:
		return nil, errors.New("what is sent in the Authorization header cannot be opened: set it again")
	case len(keys) == 0:
		return nil, errors.New("the endpoint has no live signing secret")
	}
	return keys, nil
}

// shownHeaders are an attempt's headers as they are kept: the endpoint's own
// may carry its secrets, and Authorization is one.
func shownHeaders(sent http.Header, target store.Target) []byte {
	shown := sent.Clone()
	if target.Auth.Kind != gateway.AuthNone {
		shown.Set("Authorization", gateway.Redacted)
	}
	for name := range gateway.DecodeHeaders(target.Headers) {
		if name != "Content-Type" {
			shown.Set(name, gateway.Redacted)
		}
	}
	return gateway.EncodeHeaders(shown)
}

// plain makes a text storable: a far side may send any bytes.
func plain(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "�"), "\x00", "�")
}
