package signature

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// provider is a Scheme put together of parts. A provider's file fills in what
// is its own; what is left out is the usual.
type provider struct {
	info Info
	// secret checks a pasted secret; nil is any text.
	secret func(pasted string) (string, error)
	// settings checks the kind's own settings; nil is that it has none.
	settings func(raw json.RawMessage) error
	// proof is how a request is proven.
	proof prover
	// greeting answers what may come unsigned and is no event: nil, nil for
	// every other request.
	greeting func(Request, Settings) (*Handshake, error)
	// challenge answers what is signed and no event; nil for every other request.
	challenge func(in *input, secret Secret) *Handshake
	// events tells which events a proven request brings.
	events reader
	// plan is set where the settings say how requests are proven and what names
	// their events; it checks them, and stands for settings, proof and events.
	plan func(raw json.RawMessage) (plan, error)
	// accepted is the answer to events; nil is our receipt.
	accepted func(Request) *Answer
	sample   sample
}

// plan is how requests are proven and read under settings.
type plan struct {
	proof  prover
	events reader
	// protects says in a sentence what a signature covers; "" is what Info says.
	protects string
	// secretHeaders are those that are themselves the secret.
	secretHeaders []string
	// idHeader is where a sample gets its id; "" for nowhere.
	idHeader string
}

// planned is the plan under settings.
func (p *provider) planned(raw json.RawMessage) (plan, error) {
	if p.plan == nil {
		return plan{proof: p.proof, events: p.events, protects: p.info.Protects, secretHeaders: p.info.SecretHeaders}, nil
	}
	return p.plan(raw)
}

// prover is one way of proving requests, and of making such a proof.
type prover interface {
	// prove judges a request; its error is a *Refusal.
	prove(Request, Settings, []Secret) (proof, error)
	// sign makes prove succeed with the secret, at the request's own time.
	sign(r *Request, settings Settings, secret string) error
}

// pairMaker is a prover whose secrets are public keys.
type pairMaker interface {
	newPair() (public, private string)
}

// proof is what a prover found out.
type proof struct {
	secret Secret
	skew   time.Duration
	// once is Verified.Once; id is the id that was signed, where the prover read
	// one.
	once, id string
}

func (p *provider) Info() *Info { return &p.info }

func (p *provider) CheckSecret(pasted string) (string, error) {
	if p.secret == nil {
		return checkText(pasted)
	}
	return p.secret(pasted)
}

func (p *provider) CheckSettings(raw json.RawMessage) error {
	switch {
	case p.plan != nil:
		_, err := p.plan(raw)
		return err
	case p.settings != nil:
		return p.settings(raw)
	default:
		return noSettings(raw)
	}
}

func (p *provider) SecretHeaders(raw json.RawMessage) []string {
	planned, err := p.planned(raw)
	if err != nil {
		return slices.Concat(p.info.SecretHeaders, textsIn(raw))
	}
	return planned.secretHeaders
}

func (p *provider) Protects(raw json.RawMessage) string {
	planned, err := p.planned(raw)
	if err != nil || planned.protects == "" {
		return p.info.Protects
	}
	return planned.protects
}

func (p *provider) Verify(request Request, settings Settings, secrets []Secret) (Verified, error) {
	if hello, err := p.greet(request, settings, secrets); err != nil || hello != nil {
		return Verified{Handshake: hello}, err
	}
	if settings.Tolerance == 0 {
		settings.Tolerance = p.info.Tolerance
	}
	planned, err := p.planned(settings.Raw)
	if err != nil {
		return Verified{}, unusable(err)
	}
	proven, err := planned.proof.prove(request, settings, secrets)
	if err != nil {
		return Verified{}, err
	}
	verified := Verified{Secret: proven.secret.ID, Skew: proven.skew, Once: proven.once}
	in := newInput(request)
	in.provenID = proven.id
	if p.challenge != nil {
		if verified.Handshake = p.challenge(in, proven.secret); verified.Handshake != nil {
			return verified, nil
		}
	}
	verified.Events = planned.events.read(in)
	if len(verified.Events) == 0 {
		verified.Handshake = &Handshake{Answer: *p.orReceived(request), Detail: "The request holds no events."}
	}
	return verified, nil
}

func (p *provider) Greets(request Request, settings Settings) bool {
	if p.greeting != nil {
		if hello, err := p.greeting(request, settings); err != nil || hello != nil {
			return true
		}
	}
	return p.challenge != nil && p.challenge(&input{Request: request, doc: request.Body}, Secret{}) != nil
}

func (p *provider) Unproven(r Request, settings Settings) []Identity {
	planned, err := p.planned(settings.Raw)
	if err != nil {
		return []Identity{{}} // nobody can say what names its event
	}
	return planned.events.unproven(r)
}

// unusable refuses a request because of settings that were never checked, or
// by a version that knew more.
func unusable(err error) *Refusal {
	return &Refusal{Code: CodeMismatch, Detail: "This source’s settings cannot be used: " + err.Error() + "."}
}

// greet answers what may come unsigned. A secret is taken by a source that
// waits for one: any other would let everybody who knows the address give it
// a key. One that the source has already is answered again, since the provider
// may not have heard the first answer.
func (p *provider) greet(request Request, settings Settings, secrets []Secret) (*Handshake, error) {
	if p.greeting == nil {
		return nil, nil
	}
	hello, err := p.greeting(request, settings)
	if err != nil || hello == nil || hello.Secret == "" {
		return hello, err
	}
	for _, secret := range secrets {
		if sameText(secret.Value, []byte(hello.Secret)) {
			hello.Secret = ""
			return hello, nil
		}
	}
	if !settings.Capturing {
		return nil, p.uninvited()
	}
	return hello, nil
}

// uninvited refuses a secret that was sent to a source which waits for none.
func (p *provider) uninvited() *Refusal {
	return &Refusal{
		Code: CodeMissing, Detail: p.info.Name + " offered the secret of another webhook. This source takes one only when told to.",
	}
}

// orReceived is the answer to a request without events.
func (p *provider) orReceived(r Request) *Answer {
	if answer := p.Accepted(r); answer != nil {
		return answer
	}
	return &Answer{Status: http.StatusOK}
}

func (p *provider) Accepted(r Request) *Answer {
	if p.accepted == nil {
		return nil
	}
	return p.accepted(r)
}

func (p *provider) Sample(url, id string, now time.Time) Request {
	return p.sample.request(url, id, now)
}

func (p *provider) Sign(r *Request, settings Settings, secret string) error {
	planned, err := p.planned(settings.Raw)
	if err != nil {
		return err
	}
	if name := http.CanonicalHeaderKey(planned.idHeader); name != "" && r.Header.Get(name) == "" {
		r.Header.Set(name, "test-"+field("id")(newInput(*r)))
	}
	return planned.proof.sign(r, settings, secret)
}

func (p *provider) NewPair() (public, private string) {
	if maker, ok := p.proof.(pairMaker); ok {
		return maker.newPair()
	}
	return "", ""
}

// sample is a request to try a source with. In its texts {id} stands for a
// fresh id, {unix} and {ms} for the present in seconds and milliseconds, and
// {time} for it as RFC 3339.
type sample struct {
	method, query string
	header        map[string]string
	body          string
}

func (s sample) request(url, id string, now time.Time) Request {
	fill := strings.NewReplacer("{id}", id, "{unix}", strconv.FormatInt(now.Unix(), 10),
		"{ms}", strconv.FormatInt(now.UnixMilli(), 10), "{time}", now.UTC().Format(time.RFC3339))
	r := Request{Method: s.method, URL: url, Query: fill.Replace(s.query), Header: http.Header{}, Body: []byte(fill.Replace(s.body)), Now: now}
	if r.Method == "" {
		r.Method = http.MethodPost
	}
	if r.Query != "" {
		r.URL += "?" + r.Query
	}
	r.Header.Set("Content-Type", "application/json")
	for name, value := range s.header {
		r.Header.Set(name, fill.Replace(value))
	}
	return r
}

// plain is an answer without a body.
func plain(status int) *Answer { return &Answer{Status: status} }

// text is an answer in words of the sender's or ours. The server adds that it
// must not be taken for anything else than text.
func text(status int, body string) *Answer {
	return &Answer{Status: status, ContentType: "text/plain", Body: body}
}
