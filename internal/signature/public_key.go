package signature

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
)

// publicKind verifies senders that sign with a pair of keys and one header,
// whose details the source's settings give: those of the kind hmac, without
// algorithm and prefix. The key is pasted as hex, base64 or PEM.
type publicKind struct {
	provider

	scheme publicScheme
}

var anyEd25519 = newPublicKind(Info{
	Kind: "ed25519", Name: "Any Ed25519", Summary: "A public key, you pick the header",
	Words: "custom generic asymmetric eddsa",
}, schemeEd25519)

var anyECDSA = newPublicKind(Info{
	Kind: "ecdsa", Name: "Any ECDSA", Summary: "P-256 key, you pick the header",
	Words: "custom generic asymmetric elliptic",
}, schemeECDSA)

func newPublicKind(info Info, scheme publicScheme) *publicKind {
	info.Group, info.Settings = GroupGeneric, publicFields
	info.Secret = SecretInfo{Name: "Public key", Public: true, From: "The sender’s, in hex, in base64, or as PEM."}
	info.Timed, info.URLSigned = true, true
	info.Steps = []string{
		"Open the sender’s settings for webhooks.",
		"Paste the ingest URL as the address to send to.",
		"Copy the sender’s public key, and make sure that it signs in the way that this source expects.",
	}
	info.Protects = protectsUnknown
	info.Key = KeyInfo{From: "the header that the settings name"}
	info.Answer = "200 with the event’s id."
	return &publicKind{
		provider: provider{info: info, sample: sample{body: `{"id":"{id}","hello":"from the test console"}`}},
		scheme:   scheme,
	}
}

// publicFields are the settings as the form has them.
var publicFields = slices.DeleteFunc(slices.Clone(hmacFields), func(s Setting) bool { return s.Name == "algorithm" || s.Name == "prefix" })

// keyAny reads a key in whatever form it was pasted.
var keyAny = keyForm{
	words: "hex, base64 or PEM",
	decode: func(text string) ([]byte, error) {
		if raw, err := hex.DecodeString(text); err == nil {
			return raw, nil
		}
		return decodePEMBody(text)
	},
	encode: base64.StdEncoding.EncodeToString,
}

// CheckSecret stores a public key as the base64 of its raw form.
func (k *publicKind) CheckSecret(pasted string) (string, error) {
	return publicProof{scheme: k.scheme, key: keyForm{keyAny.words, k.decodeKey, keyAny.encode}}.checkKey(pasted)
}

// decodeKey takes an Ed25519 key out of its SPKI, which some senders show.
func (k *publicKind) decodeKey(text string) ([]byte, error) {
	raw, err := keyAny.decode(text)
	if err != nil {
		return nil, fmt.Errorf("decode the key: %w", err)
	}
	if parsed, err := x509.ParsePKIXPublicKey(raw); err == nil {
		if key, ok := parsed.(ed25519.PublicKey); ok {
			return key, nil
		}
	}
	return raw, nil
}

func (k *publicKind) CheckSettings(raw json.RawMessage) error {
	_, err := planPublic(raw)
	return err
}

func (k *publicKind) Protects(raw json.RawMessage) string {
	plan, err := planPublic(raw)
	if err != nil {
		return protectsUnknown
	}
	return plan.protects()
}

// proofOf is how requests are proven under the settings.
func (k *publicKind) proofOf(plan hmacPlan) publicProof {
	return publicProof{
		header: plan.Header, encoding: plan.proof.encoding, scheme: k.scheme, key: keyBase64,
		signed: plan.proof.signed, timeHeader: plan.TimestampHeader, unit: inSeconds, idHeader: plan.IDHeader,
	}
}

func (k *publicKind) Verify(r Request, settings Settings, secrets []Secret) (Verified, error) {
	plan, err := planPublic(settings.Raw)
	if err != nil {
		return Verified{}, unusable(err)
	}
	proven, err := k.proofOf(plan).prove(r, settings, secrets)
	if err != nil {
		return Verified{}, err
	}
	events := plan.events().read(&input{Request: r, doc: r.Body})
	return Verified{Secret: proven.secret.ID, Skew: proven.skew, Events: events}, nil
}

func (k *publicKind) Unproven(Request) []Identity { return []Identity{{}} }

func (k *publicKind) Sign(r *Request, settings Settings, secret string) error {
	plan, err := planPublic(settings.Raw)
	if err != nil {
		return err
	}
	nameSample(r, http.CanonicalHeaderKey(plan.IDHeader))
	return k.proofOf(plan).sign(r, settings, secret)
}

// NewPair makes a pair in the stored form.
func (k *publicKind) NewPair() (public, private string) {
	return publicProof{scheme: k.scheme, key: keyBase64}.newPair()
}
