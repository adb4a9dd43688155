package accept

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/signature"
)

// Fault is what is wrong on purpose with a request of the test console.
type Fault string

// The faults of a request.
const (
	// FaultNone: it is as the provider sends it.
	FaultNone Fault = "none"
	// FaultWrongSecret: it is signed with a secret that the source does not have.
	FaultWrongSecret Fault = "wrong_secret"
	// FaultAltered: a byte of its body is changed after it was signed.
	FaultAltered Fault = "altered"
	// FaultOld: it is signed an hour before the oldest time that is taken.
	FaultOld Fault = "old"
	// FaultUnsigned: it is not signed.
	FaultUnsigned Fault = "unsigned"
)

// Faults lists all faults that a request can have.
var Faults = []Fault{FaultNone, FaultWrongSecret, FaultAltered, FaultOld, FaultUnsigned}

// Signer is who signed a request of the test console.
type Signer string

// The signers.
const (
	// SignedByNobody: the request or its kind is not signed.
	SignedByNobody Signer = "nobody"
	// SignedBySource: the newest live secret of the source.
	SignedBySource Signer = "source"
	// SignedByTrial: a secret that was made for the trial alone, and by which it
	// was judged.
	SignedByTrial Signer = "trial"
	// SignedByStranger: a secret that the source does not have.
	SignedByStranger Signer = "stranger"
)

// Signers lists all signers.
var Signers = []Signer{SignedByNobody, SignedBySource, SignedByTrial, SignedByStranger}

// Signing tells how a request of the test console was signed.
type Signing struct {
	By Signer
	// At is the time that was signed, where the kind signs one.
	At time.Time
	// Headers are the names of those that the signature added.
	Headers []string
	// InBody and InURL tell that it stands there.
	InBody, InURL bool
}

// beforeTolerance is by how much a request is too old that is to be.
const beforeTolerance = time.Hour

// madeRequest is a request that was made and signed, and by what to judge it.
type madeRequest struct {
	signature.Request

	signing Signing
	live    []signature.Secret
	madeUp  bool
	// secrets are texts that must not be shown.
	secrets []string
}

// signer is what signs a request, and what it is judged by.
type signer struct {
	by Signer
	// key is in the form that Scheme.Sign takes; "" signs nothing.
	key  string
	live []signature.Secret
	// madeUp tells that the source itself has nothing to sign with: the request
	// is judged by what was made for it, and never sent in.
	madeUp bool
}

// faults are those that requests to the source can have.
func (c console) faults() []Fault {
	info := c.scheme.Info()
	switch {
	case info.Secret.Name == "":
		return []Fault{FaultNone}
	case !info.Timed:
		return []Fault{FaultNone, FaultWrongSecret, FaultAltered, FaultUnsigned}
	default:
		return Faults
	}
}

// sample is the trial's request before it is signed.
func (c console) sample(t Trial, at time.Time) signature.Request {
	r := c.scheme.Sample(c.publicURL(), t.Sample, at)
	if t.Header != nil {
		r.Header = t.Header.Clone()
	}
	if r.Header.Get("User-Agent") == "" {
		r.Header.Set("User-Agent", sampleAgent)
	}
	if t.Body != nil {
		r.Body = bytes.Clone(t.Body)
	}
	c.in.Query = r.Query
	r.URL = c.publicURL()
	return r
}

// make makes the request, signs it, and puts the fault in.
func (c console) make(t Trial, now time.Time) (madeRequest, error) {
	with, err := c.signer(t.Fault)
	if err != nil {
		return madeRequest{}, err
	}
	at := now
	if t.Fault == FaultOld {
		at = now.Add(-c.tolerance() - beforeTolerance)
	}
	r := c.sample(t, at)
	made := madeRequest{signing: Signing{By: with.by}, live: with.live, madeUp: with.madeUp, secrets: c.texts(with)}
	if with.by != SignedByNobody {
		plain := r
		plain.Header = r.Header.Clone()
		if err := c.scheme.Sign(&r, c.source.settings.Scheme, with.key); err != nil {
			return madeRequest{}, gateway.Invalid("body", "it cannot be signed: %s", err)
		}
		made.signing.note(plain, r)
		if c.scheme.Info().Timed {
			made.signing.At = at
		}
	}
	if t.Fault == FaultAltered {
		r.Body = alter(r.Body)
	}
	r.Now = now
	made.Request = r
	return made, nil
}

// note tells where a signature was put.
func (s *Signing) note(before, after signature.Request) {
	for _, name := range slices.Sorted(maps.Keys(after.Header)) {
		if !slices.Equal(before.Header[name], after.Header[name]) {
			s.Headers = append(s.Headers, name)
		}
	}
	s.InBody = !bytes.Equal(before.Body, after.Body)
	s.InURL = before.URL != after.URL
}

// tolerance is how far a signed time may be from ours.
func (c console) tolerance() time.Duration {
	for _, chosen := range []time.Duration{c.source.settings.Scheme.Tolerance, c.scheme.Info().Tolerance} {
		switch {
		case chosen == signature.AnyTime:
			return 0
		case chosen > 0:
			return chosen
		}
	}
	return signature.DefaultTolerance
}

// signer finds what signs. Where the source has nothing to sign with, because
// only the provider has the private half of its key or because there is no
// secret yet, something is made for the trial, and the request judged by it.
func (c console) signer(fault Fault) (signer, error) {
	with, err := c.ownSigner()
	switch {
	case err != nil:
		return with, err
	case fault == FaultUnsigned:
		with.by, with.key = SignedByNobody, ""
	case fault == FaultWrongSecret:
		other, err := c.madeUp(with)
		if err != nil {
			return with, err
		}
		with.by, with.key = SignedByStranger, other.key
	}
	return with, nil
}

// ownSigner is what signs a request that is right.
func (c console) ownSigner() (signer, error) {
	info, live := c.scheme.Info(), c.source.secrets
	if info.Secret.Name == "" {
		return signer{by: SignedByNobody, live: live}, nil
	}
	if len(live) > 0 && !info.Secret.Public {
		key := string(live[0].Value)
		probe := c.sample(Trial{Sample: "0"}, time.Unix(0, 0))
		if c.scheme.Sign(&probe, c.source.settings.Scheme, key) == nil {
			return signer{by: SignedBySource, key: key, live: live}, nil
		}
	}
	return c.madeUp(signer{madeUp: true})
}

var errNoSecret = errors.New("no secret of this kind can be made up")

// madeUp makes a secret that is not the other one: a pair of keys where that
// was made up of one, else a random text of the form that the kind takes.
func (c console) madeUp(other signer) (signer, error) {
	if public, private := c.scheme.NewPair(); public != "" && other.madeUp {
		return trialSigner(public, private), nil
	}
	for _, text := range append(randomTexts(other.key), string(alter([]byte(other.key)))) {
		secret, err := c.scheme.CheckSecret(text)
		if err == nil && secret != "" && secret != other.key {
			return trialSigner(secret, secret), nil
		}
	}
	return signer{}, errNoSecret
}

func trialSigner(live, key string) signer {
	return signer{by: SignedByTrial, key: key, live: []signature.Secret{{Value: []byte(live)}}, madeUp: true}
}

// webhookKey begins the keys of Standard Webhooks.
const webhookKey = "whsec_"

// randomTexts are random secrets in the forms that kinds insist on; first those
// of the form that another one has, since a kind can sign with one form and send
// the other as it is.
func randomTexts(like string) []string {
	raw := make([]byte, 32)
	_, _ = rand.Read(raw) // it never fails
	text := base64.RawURLEncoding.EncodeToString(raw)
	texts := []string{text, hex.EncodeToString(raw), "test:" + text}
	key := webhookKey + base64.StdEncoding.EncodeToString(raw)
	if strings.HasPrefix(like, webhookKey) {
		return append([]string{key}, texts...)
	}
	return append(texts, key)
}

// alter changes one byte: the last digit or letter, so that what is read of a
// body stays readable.
func alter(text []byte) []byte {
	altered := bytes.Clone(text)
	for i := len(altered) - 1; i >= 0; i-- {
		switch b := altered[i]; {
		case b >= '0' && b <= '8':
			altered[i]++
			return altered
		case b == '9':
			altered[i] = '0'
			return altered
		case b|0x20 >= 'a' && b|0x20 <= 'z':
			altered[i] ^= 0x20
			return altered
		}
	}
	return append(altered, ' ')
}

func joined(faults []Fault) string {
	texts := make([]string, len(faults))
	for i, f := range faults {
		texts[i] = string(f)
	}
	return strings.Join(texts, ", ")
}

// isToken tells whether a text can be the name of a header.
func isToken(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
	})
}

// breaksLine tells whether a header cannot have such a value.
func breaksLine(value string) bool { return strings.ContainsAny(value, "\r\n\x00") }

// headerNames puts headers under their canonical names, as they arrive.
func headerNames(h http.Header) http.Header {
	named := http.Header{}
	for name, values := range h {
		named[http.CanonicalHeaderKey(name)] = append(named[http.CanonicalHeaderKey(name)], values...)
	}
	return named
}
