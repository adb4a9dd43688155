package accept

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/signature"
)

// Incoming is a provider's request.
type Incoming struct {
	// Token is the part of the address that names the source.
	Token string
	// Method, Path (what followed the token), and Query are as received.
	Method, Path, Query string
	Header              http.Header
	// Body is byte for byte as sent.
	Body []byte
	// URL is the address that this server gives the source, without path and
	// query of the request.
	URL string
	// Sender is the address that it came from; the zero value where that is not
	// known.
	Sender netip.Addr
	// Inside tells that it was made by the test console of this server: it comes
	// from no address.
	Inside bool
}

// Received is what became of one event.
type Received struct {
	// ID is the event's, or the first one's for a repeat.
	ID        gateway.EventID
	Duplicate bool
}

// Receipt is what a provider is told.
type Receipt struct {
	// Events are those of the request, in their order; none for a handshake.
	Events []Received
	// Batch tells that requests of this kind can bring several events.
	Batch bool
	// Answer is what the provider wants as an answer; nil is our receipt.
	Answer *signature.Answer
	// Handshake tells that the request was answered and is no event.
	Handshake bool
}

// MethodError is a request with a method that the source does not take.
type MethodError struct {
	// Allowed are those that it does.
	Allowed []string
}

// Error lists the methods that are taken.
func (e *MethodError) Error() string { return "the source takes " + strings.Join(e.Allowed, ", ") }

// methods carry events whatever the kind: providers send POST; the others are
// for senders of one's own.
var methods = []string{http.MethodPost, http.MethodPut, http.MethodPatch}

// Receive takes a provider's request: it finds the source, verifies, and has
// the events committed, all or none. Its errors are gateway.ErrNotFound for an
// unknown token, *MethodError, *signature.Refusal, gateway.ErrAddressNotAllowed,
// gateway.ErrBodyReplayed, *RateLimitedError, gateway.ErrOverloaded and
// gateway.ErrUnavailable. A refused request is kept with its cause before the
// refusal is returned.
func (s *Service) Receive(ctx context.Context, in Incoming) (Receipt, error) {
	source, err := s.sources.byToken(ctx, in.Token)
	if err != nil {
		return Receipt{}, err
	}
	scheme, ok := signature.Lookup(source.Kind)
	if !ok {
		return Receipt{}, fmt.Errorf("source %s is of kind %q, which this version does not know", source.ID, source.Kind)
	}
	if allowed := slices.Concat(methods, scheme.Info().Methods); !slices.Contains(allowed, in.Method) {
		return Receipt{}, &MethodError{Allowed: allowed}
	}
	if in.Inside {
		source.settings.Scheme.Capturing = false // nothing that was made here is the provider's secret
	}
	r := reception{source: source, scheme: scheme, in: in}
	if !in.Inside && !source.takesFrom(in.Sender) {
		return Receipt{}, s.keep(ctx, r.trace(s, gateway.CauseAddress, addressDetail(in.Sender), http.StatusForbidden), gateway.ErrAddressNotAllowed)
	}
	request := r.request(s.clock.Now())
	verified, err := scheme.Verify(request, source.settings.Scheme, source.secrets)
	if err != nil {
		return Receipt{}, s.keepRefused(ctx, r, err)
	}
	if verified.Handshake != nil {
		return s.greet(ctx, r, verified)
	}
	if err := s.limits.receive(ctx, source.Source, source.settings.PerSecond, len(verified.Events), len(in.Body)); err != nil {
		return Receipt{}, err
	}
	w, answer := s.prepareReceived(ctx, r, verified), scheme.Accepted(request)
	if answer != nil {
		w.trace.Answered = answer.Status
	}
	if err := s.commits.submit(ctx, w); err != nil {
		return Receipt{}, err
	}
	if w.replayed {
		return Receipt{}, gateway.ErrBodyReplayed
	}
	return Receipt{Events: w.received(), Batch: scheme.Info().Batch, Answer: answer}, nil
}

// reception is a request at its source.
type reception struct {
	source knownSource
	scheme signature.Scheme
	in     Incoming
}

// request is what the scheme judges.
func (r reception) request(now time.Time) signature.Request {
	return signature.Request{
		Method: r.in.Method, URL: r.publicURL(), Query: r.in.Query, Header: r.in.Header, Body: r.in.Body, Now: now,
	}
}

// publicURL is the address as the sender knows it. One that was configured with
// a query is the whole of it.
func (r reception) publicURL() string {
	address := r.in.URL
	if chosen := r.source.settings.PublicURL; chosen != "" {
		if strings.Contains(chosen, "?") {
			return chosen
		}
		address = chosen
	}
	if r.in.Path != "" {
		address = strings.TrimSuffix(address, "/") + r.in.Path
	}
	if r.in.Query != "" {
		address += "?" + r.in.Query
	}
	return address
}

// takesFrom tells whether a source takes requests from an address.
func (k knownSource) takesFrom(sender netip.Addr) bool {
	if len(k.settings.Addresses) == 0 {
		return true
	}
	sender = sender.Unmap()
	return slices.ContainsFunc(k.settings.Addresses, func(p netip.Prefix) bool { return p.Contains(sender) })
}

func addressDetail(sender netip.Addr) string {
	if !sender.IsValid() {
		return "The address of the sender is not known, and this source takes requests from chosen addresses only."
	}
	return "It came from " + sender.Unmap().String() + ", which is none of the addresses that this source takes requests from."
}

// prepareReceived gives the request's events their ids. A repeat with another
// body is a repeat all the same: the sender is told of the first one, and the
// difference is kept with the request.
func (s *Service) prepareReceived(ctx context.Context, r reception, verified signature.Verified) *waiting {
	whole := r.body()
	arrivals := r.identified(verified, whole)
	var request *gateway.RequestID
	if len(arrivals) > 1 {
		request = new(gateway.RequestID(s.clock.NewID()))
	}
	rule, span := r.source.namer(), gateway.SpanFrom(ctx)
	for i := range arrivals {
		arrivals[i].event.ID = gateway.EventID(s.clock.NewID())
		arrivals[i].event.RequestID, arrivals[i].event.Span = request, span
		rule.name(ctx, &arrivals[i])
	}
	w := newWaiting(arrivals...)
	if request != nil {
		w.raw, w.rawID = &whole, *request
	}
	w.trace.Answered, w.trace.Sender = http.StatusOK, senderText(r.in.Sender)
	w.guard = r.guard(verified)
	return w
}

// body is the request as it is kept.
func (r reception) body() gateway.Body { return bodyOf(r.in, r.scheme, r.source.settings.Scheme.Raw) }

// identified are the events of the request, named as its source's kind knows
// them, without ids.
func (r reception) identified(verified signature.Verified, whole gateway.Body) []arrival {
	arrivals := make([]arrival, len(verified.Events))
	for i := range verified.Events {
		identity := &verified.Events[i]
		event := gateway.Event{
			AccountID: r.source.AccountID, SourceID: r.source.ID, Status: gateway.EventAccepted,
			Type: identity.Type, SecretID: nonZero(verified.Secret),
		}
		if event.Type == "" {
			event.Type = gateway.DefaultEventType
		}
		if identity.Key != "" {
			event.Key = []byte(identity.Key)
		}
		body := whole
		if identity.Body != nil {
			body.Data = identity.Body
		}
		arrivals[i] = arrival{event: event, body: body}
	}
	return arrivals
}

// keepRefused stores a refused request and returns the refusal.
func (s *Service) keepRefused(ctx context.Context, r reception, err error) error {
	var refusal *signature.Refusal
	if !errors.As(err, &refusal) {
		return err
	}
	trace := r.trace(s, refusal.Code, refusal.Detail, refusal.Answer())
	trace.Header = refusal.Header
	if refusal.Skew != 0 {
		skew := -refusal.Skew.Milliseconds()
		trace.SkewMS = &skew
	}
	return s.keep(ctx, trace, err)
}

// trace is what is kept of a request that is no event.
func (r reception) trace(s *Service, cause, detail string, answered int) gateway.Request {
	trace := gateway.Request{
		ID: gateway.RequestID(s.clock.NewID()), AccountID: r.source.AccountID, SourceID: r.source.ID,
		Cause: cause, Detail: detail, Answered: answered, Sender: senderText(r.in.Sender),
	}
	trace.Keep(bodyOf(r.withoutSecret(s.clock.Now()), r.scheme, r.source.settings.Scheme.Raw))
	return trace
}

// keep stores a trace and returns what the sender is told. If it cannot be
// stored, the sender is to come again: each request leaves a trace.
func (s *Service) keep(ctx context.Context, trace gateway.Request, told error) error {
	if err := s.commits.submit(ctx, newTrace(trace)); err != nil {
		return err
	}
	return told
}

func senderText(sender netip.Addr) string {
	if !sender.IsValid() {
		return ""
	}
	return sender.Unmap().String()
}

// alwaysSecret are headers that are never stored, whatever the scheme.
var alwaysSecret = []string{"Authorization", "Cookie", "Proxy-Authorization"}

// secretHeaders are those that are themselves a secret.
func secretHeaders(scheme signature.Scheme, chosen json.RawMessage) []string {
	return slices.Concat(alwaysSecret, scheme.SecretHeaders(chosen))
}

// bodyOf keeps a request as it came, but for headers and parameters that are
// themselves a secret.
func bodyOf(in Incoming, scheme signature.Scheme, chosen json.RawMessage) gateway.Body {
	header := in.Header.Clone()
	for _, name := range secretHeaders(scheme, chosen) {
		for i := range header.Values(name) {
			header.Values(name)[i] = gateway.Redacted
		}
	}
	return gateway.Body{
		Method:  in.Method,
		Path:    []byte(in.Path),
		Query:   []byte(withoutValues(in.Query, scheme.Info().SecretQuery)),
		Headers: gateway.EncodeHeaders(header),
		Data:    in.Body,
	}
}

// withoutValues is a query without the values of parameters; all else in it stays
// as it came.
func withoutValues(query string, names []string) string {
	if len(names) == 0 {
		return query
	}
	pairs := strings.Split(query, "&")
	for i, pair := range pairs {
		written, _, _ := strings.Cut(pair, "=")
		if name, err := url.QueryUnescape(written); err == nil && slices.Contains(names, name) {
			pairs[i] = written + "=" + gateway.Redacted
		}
	}
	return strings.Join(pairs, "&")
}

func nonZero(id gateway.SecretID) *gateway.SecretID {
	if id.IsZero() {
		return nil
	}
	return &id
}
