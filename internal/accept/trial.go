package accept

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/signature"
	"github.com/rowlock/rowlock/internal/store"
)

// Sample is a request such as a source's provider sends, not signed yet.
type Sample struct {
	// ID names it: samples of one name are one event told twice.
	ID     string
	Method string
	URL    string
	Header http.Header
	Body   []byte
	// Faults are what can be made wrong with it.
	Faults []Fault
	// CheckOnly tells that nothing this server signs is taken in: only the
	// provider can sign, or the source has no secret yet.
	CheckOnly bool
}

// Trial is a request for the test console to make, sign and try.
type Trial struct {
	// Sample names the sample; "" is a new one.
	Sample string
	// Header and Body are in place of the sample's; nil is the sample's.
	Header http.Header
	Body   []byte
	// Fault is what to make wrong; "" is FaultNone.
	Fault Fault
	// Send takes the request in as one from outside. Without it nothing is
	// stored.
	Send bool
}

// Tried is what came of a trial. Nothing in it is a secret.
type Tried struct {
	// Request is what was made, as it was sent; secrets in it are redacted.
	Request signature.Request
	Signing Signing
	// Verified is the verdict of the source's scheme; zero where it refused.
	Verified signature.Verified
	// Refused is why the request was not taken; nil where it was. It is a
	// *signature.Refusal, gateway.ErrBodyReplayed or a *RateLimitedError.
	Refused error
	// Answer is what the sender is told of a request that is taken; nil is our
	// receipt.
	Answer *signature.Answer
	// Events are those of the request.
	Events []TriedEvent
	// Sent tells that it was taken in, or refused, as one from outside.
	Sent bool
}

// TriedEvent is one of the events of a trial's request.
type TriedEvent struct {
	Key, Type string
	// ID is the stored event's; for a duplicate the first one's. Nil while
	// nothing is stored under its key.
	ID        *gateway.EventID
	Duplicate bool
}

const (
	// sampleAgent tells a receiver that an event comes from the test console.
	sampleAgent = "Rowlock-Test-Console"
	// maxLookedUp bounds how many events of a request are looked up by their
	// keys.
	maxLookedUp = 20
)

// Sample makes a request such as the source's provider sends. A name gives the
// same sample again, with the present time. Errors: gateway.ErrNotFound,
// gateway.ErrBuiltIn for the source of the API.
func (s *Service) Sample(ctx context.Context, account gateway.AccountID, id gateway.SourceID, name string) (Sample, error) {
	c, err := s.console(ctx, account, id)
	if err != nil {
		return Sample{}, err
	}
	if name == "" {
		name = s.sampleName()
	}
	with, err := c.signer(FaultNone)
	if err != nil {
		return Sample{}, err
	}
	r := c.sample(Trial{Sample: name}, s.clock.Now())
	return Sample{
		ID: name, Method: r.Method, URL: r.URL, Header: r.Header, Body: r.Body, Faults: c.faults(), CheckOnly: with.madeUp,
	}, nil
}

// sampleName is a name that no other sample has.
func (s *Service) sampleName() string {
	id := s.clock.NewID()
	return hex.EncodeToString(id[:])
}

// Try makes a request as the source's provider would, with what is to be wrong
// about it, and judges it; sent in, it goes the way of every other request, and
// that is audited. Errors: gateway.ErrNotFound; gateway.ErrBuiltIn;
// gateway.InvalidError for "headers", "body", "fault" and "dry_run"; and those of
// Receive that are no verdict over the request.
func (s *Service) Try(ctx context.Context, account gateway.AccountID, actor gateway.Actor, id gateway.SourceID, t Trial) (Tried, error) {
	c, err := s.console(ctx, account, id)
	if err != nil {
		return Tried{}, err
	}
	if t.Sample == "" {
		t.Sample = s.sampleName()
	}
	if err := c.check(&t); err != nil {
		return Tried{}, err
	}
	made, err := c.make(t, s.clock.Now())
	if err != nil {
		return Tried{}, err
	}
	if t.Send && made.madeUp {
		return Tried{}, gateway.Invalid("dry_run", "this source can only be checked: what this server signs is not signed by its provider")
	}
	tried := c.judge(ctx, made)
	if t.Send {
		err = s.sendTrial(ctx, c, actor, t.Fault, made, &tried)
	} else {
		err = s.lookUp(ctx, c, &tried)
	}
	return tried, err
}

// console is a source at which the test console tries something.
type console struct{ reception }

// console reads a source as it stands now.
func (s *Service) console(ctx context.Context, account gateway.AccountID, id gateway.SourceID) (console, error) {
	source, err := s.store.Source(ctx, account, id)
	if err != nil {
		return console{}, err
	}
	if source.Kind == gateway.SourceKindAPI {
		return console{}, gateway.ErrBuiltIn
	}
	scheme, ok := signature.Lookup(source.Kind)
	if !ok {
		return console{}, fmt.Errorf("source %s is of kind %q, which this version does not know", source.ID, source.Kind)
	}
	secrets, err := s.store.SourceSecrets(ctx, account, id)
	if err != nil {
		return console{}, err
	}
	chosen, err := settingsOf(source)
	if err != nil {
		return console{}, err
	}
	known := (&cachedSource{source: source, settings: chosen, secrets: secrets, rule: compiled(source)}).at(s.clock.Now())
	known.settings.Scheme.Capturing = false // nothing that was made here is the provider's secret
	in := Incoming{Token: source.Token, URL: s.baseURL + gateway.IngestPath + source.Token, Inside: true}
	return console{reception{source: known, scheme: scheme, in: in}}, nil
}

// judge has the scheme verify what was made, and tells what the sender would be
// told.
func (c console) judge(ctx context.Context, made madeRequest) Tried {
	tried := Tried{Request: c.masked(made), Signing: made.signing}
	tried.Verified, tried.Refused = c.scheme.Verify(made.Request, c.source.settings.Scheme, made.live)
	if tried.Refused != nil {
		return tried
	}
	tried.Answer = c.scheme.Accepted(made.Request)
	if hello := tried.Verified.Handshake; hello != nil {
		tried.Answer = &hello.Answer
	}
	r := c.receptionOf(made)
	rule := r.source.namer()
	for _, named := range r.identified(tried.Verified, r.body()) {
		rule.name(ctx, &named)
		tried.Events = append(tried.Events, TriedEvent{Key: string(named.event.Key), Type: named.event.Type})
	}
	return tried
}

// receptionOf is what was made, as it comes to the source.
func (c console) receptionOf(made madeRequest) reception {
	r := c.reception
	r.in.Method, r.in.Query, r.in.Header, r.in.Body = made.Method, made.Query, made.Header, made.Body
	return r
}

// sendTrial takes a request in as one from outside. Who did so is written down
// first: what comes of it cannot be undone.
func (s *Service) sendTrial(ctx context.Context, c console, actor gateway.Actor, fault Fault, made madeRequest, tried *Tried) error {
	err := s.store.InTx(ctx, func(tx store.Tx) error {
		return tx.Audit(ctx, c.source.AccountID, actor, "source.test", c.source.ID.String(), string(fault), s.clock.NewID())
	})
	if err != nil {
		return err
	}
	tried.Sent = true
	got, err := s.Receive(ctx, c.receptionOf(made).in)
	if isVerdict(err) {
		tried.Refused, tried.Answer = err, nil
		return nil
	}
	if err != nil {
		return err
	}
	for i := range tried.Events[:min(len(tried.Events), len(got.Events))] {
		tried.Events[i].ID, tried.Events[i].Duplicate = &got.Events[i].ID, got.Events[i].Duplicate
	}
	return nil
}

// isVerdict tells that an error of Receive is about the request, and not about
// this server.
func isVerdict(err error) bool {
	_, refused := errors.AsType[*signature.Refusal](err)
	return refused || errors.Is(err, gateway.ErrBodyReplayed) || errors.Is(err, gateway.ErrRateLimited)
}

// lookUp finds what was taken in before under the keys of the request's events.
func (s *Service) lookUp(ctx context.Context, c console, tried *Tried) error {
	for i := range tried.Events[:min(len(tried.Events), maxLookedUp)] {
		event := &tried.Events[i]
		if event.Key == "" {
			continue
		}
		first, err := s.firstOf(ctx, c, event.Key)
		if err != nil {
			return err
		}
		event.ID, event.Duplicate = first, first != nil
	}
	return nil
}

// check tells what cannot be tried.
func (c console) check(t *Trial) error {
	if t.Fault == "" {
		t.Fault = FaultNone
	}
	if !slices.Contains(c.faults(), t.Fault) {
		return gateway.Invalid("fault", "want one of those that this kind can have: %s", joined(c.faults()))
	}
	if t.Header != nil {
		t.Header = headerNames(t.Header)
	}
	for name, values := range t.Header {
		if !isToken(name) || slices.ContainsFunc(values, breaksLine) {
			return gateway.Invalid("headers", "want names of letters, digits and dashes, and values on one line")
		}
	}
	return nil
}
