package signature

import (
	"crypto/sha256"
	"encoding/json"
	"strings"
)

// github verifies GitHub's webhooks: HMAC-SHA256 over the body, keyed with the
// secret as text, in X-Hub-Signature-256 as "sha256=" and hex. The SHA-1 that
// GitHub still sends beside it is never looked at: it would be a weaker way in.
//
// The event is named by X-GitHub-Event, its id is X-GitHub-Delivery, which a
// redelivery repeats. Neither is signed.
type github struct{}

var _ Scheme = github{}

const (
	githubSignature = "X-Hub-Signature-256"
	githubPrefix    = "sha256="
	githubID        = "X-Github-Delivery"
	githubType      = "X-Github-Event"
)

func (github) Kind() string { return "github" }

func (github) NeedsSecret() bool { return true }

func (github) CheckSecret(pasted string) (string, error) { return checkText(pasted) }

func (github) CheckSettings(raw json.RawMessage) error { return noSettings(raw) }

func (github) SecretHeaders() []string { return nil }

func (github) Protects(json.RawMessage) string {
	return "The body is signed; the delivery id, the event name and the time are not."
}

func (github) Verify(request Request, _ Settings, secrets []Secret) (Verified, error) {
	header, err := signatureHeader(request.Header, githubSignature)
	if err != nil {
		return Verified{}, err
	}
	text, ok := strings.CutPrefix(header, githubPrefix)
	if !ok {
		return Verified{}, malformed(githubSignature, "The header "+githubSignature+" does not begin with "+githubPrefix+", as it should.")
	}
	sent, ok := decodeHex(text, sha256.Size)
	if !ok {
		return Verified{}, malformed(githubSignature, "What follows "+githubPrefix+" is not 64 hex digits.")
	}
	secret, ok := matchHMAC(sha256.New, secrets, [][]byte{request.Body}, [][]byte{sent})
	if !ok {
		return Verified{}, mismatch(githubSignature, secrets)
	}
	event := Identity{
		Key:  identityHeader(request.Header, githubID),
		Type: eventType(identityHeader(request.Header, githubType)),
	}
	return Verified{Secret: secret, Events: []Identity{event}}, nil
}
