package signature

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"strings"
	"time"
)

// stripe verifies Stripe's webhooks: HMAC-SHA256 over "{t}.{body}", in
// Stripe-Signature as "t=SECONDS,v1=HEX", with one v1 for each secret while
// one is rolled, and a v0 in test mode that means nothing.
//
// The key is the whole secret as text, "whsec_" included. Standard Webhooks
// uses the same prefix and decodes what follows it: the two do not mix.
//
// The event's id and type are in the body and so are signed. A retry keeps the
// id and has a new time and signature.
type stripe struct{}

var _ Scheme = stripe{}

const (
	stripeSignature = "Stripe-Signature"
	stripeTimeLabel = "t"
	stripeVersion   = "v1"
)

var stripeVersions = map[string]version{stripeVersion: {size: sha256.Size, decode: decodeHex}}

var errStripeSecret = errors.New("this is a key or an id of the Stripe API; the signing secret of the webhook endpoint begins with whsec_")

func (stripe) Kind() string { return "stripe" }

func (stripe) NeedsSecret() bool { return true }

// CheckSecret refuses what people paste from the neighbouring page. It does
// not insist on whsec_, since other products sign as Stripe does.
func (stripe) CheckSecret(pasted string) (string, error) {
	secret, err := checkText(pasted)
	if err != nil {
		return "", err
	}
	for _, prefix := range []string{"sk_", "rk_", "pk_", "we_"} {
		if strings.HasPrefix(secret, prefix) {
			return "", errStripeSecret
		}
	}
	return secret, nil
}

func (stripe) CheckSettings(raw json.RawMessage) error { return noSettings(raw) }

func (stripe) SecretHeaders() []string { return nil }

func (stripe) Protects(json.RawMessage) string {
	return "The body, with the event's id in it, and the time are signed."
}

func (stripe) Verify(request Request, settings Settings, secrets []Secret) (Verified, error) {
	header, err := signatureHeader(request.Header, stripeSignature)
	if err != nil {
		return Verified{}, err
	}
	list, err := splitLabelled(stripeSignature, header, ",", "=")
	if err != nil {
		return Verified{}, err
	}
	text, signedAt, err := stripeTime(list)
	if err != nil {
		return Verified{}, err
	}
	sent, err := sentSignatures(stripeSignature, list, stripeVersions)
	if err != nil {
		return Verified{}, err
	}
	signed := [][]byte{[]byte(text), []byte("."), request.Body}
	secret, ok := matchHMAC(sha256.New, secrets, signed, sent[stripeVersion])
	if !ok {
		return Verified{}, mismatch(stripeSignature, secrets)
	}
	skew, err := checkTime(stripeSignature, signedAt, request, settings)
	if err != nil {
		return Verified{}, err
	}
	return Verified{Secret: secret, Skew: skew, Events: []Identity{stripeEvent(request.Body)}}, nil
}

// stripeTime finds the one time of the header. Two would be ambiguous.
func stripeTime(list []labelled) (string, time.Time, error) {
	var text string
	count := 0
	for _, entry := range list {
		if entry.label == stripeTimeLabel {
			text = entry.value
			count++
		}
	}
	signedAt, ok := parseUnix(text)
	if count != 1 || !ok {
		return "", time.Time{}, malformed(stripeSignature, "The header "+stripeSignature+" holds no usable time: one t= with seconds since 1970.")
	}
	return text, signedAt, nil
}

func stripeEvent(body []byte) Identity {
	members := topLevel(body)
	return Identity{Key: keyOf(members["id"]), Type: eventType(textOf(members["type"]))}
}
