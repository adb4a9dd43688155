package accept

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

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
	// URL is the source's public address.
	URL string
}

// Receipt is what a provider is told.
type Receipt struct {
	// ID is the event's, or the first one's for a repeat.
	ID        gateway.EventID
	Duplicate bool
}

// Receive takes a provider's request: it finds the source, verifies, and has
// the event committed. Its errors are gateway.ErrNotFound for an unknown
// token, *signature.Refusal, *RateLimitedError, gateway.ErrOverloaded and
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
	body := bodyOf(in, scheme)
	verified, err := scheme.Verify(signature.Request{
		Method: in.Method, URL: in.URL, Header: in.Header, Body: in.Body, Now: s.clock.Now(),
	}, source.settings, source.secrets)
	if err != nil {
		return Receipt{}, s.keepRefused(ctx, source.Source, body, err)
	}
	if err := s.limits.receive(ctx, source.AccountID, len(in.Body)); err != nil {
		return Receipt{}, err
	}
	return s.receiveEvent(ctx, source.Source, verified, body)
}

// receiveEvent has the request's event committed. A repeat with another body
// is a repeat all the same: the sender is told of the first one, and the
// difference is kept with the request.
func (s *Service) receiveEvent(ctx context.Context, source gateway.Source, verified signature.Verified, body gateway.Body) (Receipt, error) {
	identity := verified.Events[0]
	event := gateway.Event{
		ID: gateway.EventID(s.clock.NewID()), AccountID: source.AccountID, SourceID: source.ID,
		Type: identity.Type, SecretID: nonZero(verified.Secret),
	}
	if event.Type == "" {
		event.Type = gateway.DefaultEventType
	}
	if identity.Key != "" {
		event.Key = []byte(identity.Key)
	}
	id, duplicate, err := s.submit(ctx, arrival{event: event, body: body})
	if err != nil && !errors.Is(err, gateway.ErrKeyReused) {
		return Receipt{}, err
	}
	return Receipt{ID: id, Duplicate: duplicate}, nil
}

// keepRefused stores a refused request and returns the refusal. If it cannot
// be stored, the sender is to come again: each request leaves a trace.
func (s *Service) keepRefused(ctx context.Context, source gateway.Source, body gateway.Body, err error) error {
	var refusal *signature.Refusal
	if !errors.As(err, &refusal) {
		return err
	}
	trace := gateway.Request{
		ID: gateway.RequestID(s.clock.NewID()), AccountID: source.AccountID, SourceID: source.ID,
		Cause: refusal.Code, Detail: refusal.Detail,
		Body: cut(body), BodySize: len(body.Data),
	}
	if refusal.Skew != 0 {
		skew := -refusal.Skew.Milliseconds()
		trace.SkewMS = &skew
	}
	if kept := s.commits.submit(ctx, newRejected(trace)); kept != nil {
		return kept
	}
	return err
}

// alwaysSecret are headers that are never stored, whatever the scheme.
var alwaysSecret = []string{"Authorization", "Cookie", "Proxy-Authorization"}

// bodyOf keeps a request as it came, but for headers that are themselves a
// secret.
func bodyOf(in Incoming, scheme signature.Scheme) gateway.Body {
	header := in.Header.Clone()
	for _, name := range slices.Concat(alwaysSecret, scheme.SecretHeaders()) {
		for i := range header.Values(name) {
			header.Values(name)[i] = gateway.Redacted
		}
	}
	return gateway.Body{
		Method:  in.Method,
		Path:    []byte(in.Path),
		Query:   []byte(in.Query),
		Headers: gateway.EncodeHeaders(header),
		Data:    in.Body,
	}
}

func nonZero(id gateway.SecretID) *gateway.SecretID {
	if id.IsZero() {
		return nil
	}
	return &id
}
