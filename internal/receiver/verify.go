package receiver

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// tolerance is how far a timestamp may lie from now, each way: five minutes,
// as the Standard Webhooks libraries have it.
const tolerance = 5 * time.Minute

const (
	secretPrefix    = "whsec_" // a shared secret, for signatures v1
	publicKeyPrefix = "whpk_"  // an Ed25519 public key, for signatures v1a
)

// verdict is what checking a signature says.
type verdict string

const (
	unchecked  verdict = "unchecked"             // no secret to check with
	verified   verdict = "yes"                   //
	incomplete verdict = "no(header-missing)"    // id, time or signature is absent
	badTime    verdict = "no(timestamp-unread)"  // the time is no number
	wrongTime  verdict = "no(timestamp-too-far)" // too old, or from the future
	mismatch   verdict = "no(mismatch)"          // no signature fits
)

// verifier checks Standard Webhooks signatures. It shares no code with what
// signs deliveries, so that it can be held against it.
type verifier struct {
	version string // what stands before the comma of signatures to look at
	fits    func(message, signature []byte) bool
}

// newVerifier makes the verifier for an endpoint's secret, nil for none.
func newVerifier(secret string) (*verifier, error) {
	secret = strings.TrimSpace(secret)
	if secret == "" {
		return nil, nil //nolint:nilnil // a nil verifier says "unchecked"
	}
	if text, ok := strings.CutPrefix(secret, publicKeyPrefix); ok {
		return newEd25519(text)
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, secretPrefix))
	if err != nil || len(key) == 0 {
		return nil, errors.New("the secret is not one: want whsec_ and standard base64, as shown when the endpoint was made")
	}
	return &verifier{version: "v1", fits: func(message, signature []byte) bool {
		mac := hmac.New(sha256.New, key)
		mac.Write(message)
		return hmac.Equal(mac.Sum(nil), signature)
	}}, nil
}

func newEd25519(text string) (*verifier, error) {
	key, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(key) != ed25519.PublicKeySize {
		return nil, errors.New("the public key is not one: want whpk_ and the standard base64 of 32 bytes")
	}
	return &verifier{version: "v1a", fits: func(message, signature []byte) bool {
		return ed25519.Verify(key, message, signature)
	}}, nil
}

// verify checks the signature over "id.timestamp.body". Several signatures may
// stand in the header, as they do while a secret is rotated: one that fits is
// enough.
func (v *verifier) verify(h http.Header, body []byte, now time.Time) verdict {
	if v == nil {
		return unchecked
	}
	id, stamp, signatures := h.Get("Webhook-Id"), h.Get("Webhook-Timestamp"), h.Get("Webhook-Signature")
	if id == "" || stamp == "" || signatures == "" {
		return incomplete
	}
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil {
		return badTime
	}
	if !v.anyFits(append([]byte(id+"."+stamp+"."), body...), signatures) {
		return mismatch
	}
	// Compared in seconds: a difference of durations would overflow.
	if d := tolerance / time.Second; seconds < now.Unix()-int64(d) || seconds > now.Unix()+int64(d) {
		return wrongTime
	}
	return verified
}

func (v *verifier) anyFits(message []byte, signatures string) bool {
	for one := range strings.FieldsSeq(signatures) {
		version, text, _ := strings.Cut(one, ",")
		if version != v.version {
			continue
		}
		if signature, err := base64.StdEncoding.DecodeString(text); err == nil && v.fits(message, signature) {
			return true
		}
	}
	return false
}
