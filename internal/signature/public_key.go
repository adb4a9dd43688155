package signature

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
)

// The kinds with a public key verify senders that sign with a pair of keys and
// one header, whose details the source's settings give: those of the kind hmac,
// without algorithm and prefix. The key is pasted as hex, base64 or PEM.

var anyEd25519 = newPublicKind(Info{
	Kind: "ed25519", Name: "Any Ed25519", Summary: "A public key, you pick the header",
	Words: "custom generic asymmetric eddsa",
}, schemeEd25519)

var anyECDSA = newPublicKind(Info{
	Kind: "ecdsa", Name: "Any ECDSA", Summary: "P-256 key, you pick the header",
	Words: "custom generic asymmetric elliptic",
}, schemeECDSA)

func newPublicKind(info Info, scheme publicScheme) *provider {
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
	return &provider{
		info:   info,
		secret: publicProof{scheme: scheme, key: keyAny}.checkKey,
		proof:  publicProof{scheme: scheme, key: keyBase64}, // for pairs alone: the plan has the rest
		plan: func(raw json.RawMessage) (plan, error) {
			chosen, err := planPublic(raw)
			return plan{
				proof: publicProof{
					header: chosen.Header, encoding: chosen.proof.encoding, scheme: scheme, key: keyBase64,
					signed: chosen.proof.signed, timeHeader: chosen.TimestampHeader, unit: inSeconds, idHeader: chosen.IDHeader,
				},
				events: chosen.events(), protects: chosen.protects(), idHeader: chosen.IDHeader,
			}, err
		},
		sample: sample{body: `{"id":"{id}","hello":"from the test console"}`},
	}
}

// publicFields are the settings as the form has them.
var publicFields = slices.DeleteFunc(slices.Clone(hmacFields), func(s Setting) bool { return s.Name == "algorithm" || s.Name == "prefix" })

// keyAny reads a key in whatever form it was pasted, and stores it as the base64
// of its raw form.
var keyAny = keyForm{words: "hex, base64 or PEM", decode: decodeAnyKey, encode: base64.StdEncoding.EncodeToString}

// decodeAnyKey takes an Ed25519 key out of its SPKI, which some senders show.
func decodeAnyKey(text string) ([]byte, error) {
	raw, err := hex.DecodeString(text)
	if err != nil {
		raw, err = decodePEMBody(text)
	}
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
