package signature

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/json"
	"strings"

	"github.com/rowlock/rowlock/internal/gateway"
)

// standardWebhooks verifies what the Standard Webhooks specification defines:
// a signature over "{webhook-id}.{webhook-timestamp}.{body}", in
// webhook-signature as "v1,BASE64" (HMAC-SHA256) or "v1a,BASE64" (Ed25519),
// several of them parted by spaces.
//
// A whsec_ secret checks v1 alone and a whpk_ key v1a alone: a public key used
// as an HMAC key would let everybody sign.
//
// The id is signed and the same in every retry; the type is in the body.
type standardWebhooks struct{}

var _ Scheme = standardWebhooks{}

const (
	webhookID        = "Webhook-Id"
	webhookTimestamp = "Webhook-Timestamp"
	webhookSignature = "Webhook-Signature"

	versionHMAC    = "v1"
	versionEd25519 = "v1a"
)

var webhookVersions = map[string]version{
	versionHMAC:    {size: sha256.Size, decode: decodeBase64},
	versionEd25519: {size: ed25519.SignatureSize, decode: decodeBase64},
}

func (standardWebhooks) Kind() string { return "standard_webhooks" }

func (standardWebhooks) NeedsSecret() bool { return true }

// CheckSecret stores keys in one form: prefix and padded base64.
func (standardWebhooks) CheckSecret(pasted string) (string, error) {
	key, err := parseWebhookKey(pasted)
	if err != nil {
		return "", err
	}
	return key.String(), nil
}

func (standardWebhooks) CheckSettings(raw json.RawMessage) error { return noSettings(raw) }

func (standardWebhooks) SecretHeaders() []string { return nil }

func (standardWebhooks) Protects(json.RawMessage) string {
	return "The body, the event's id and the time are signed."
}

func (standardWebhooks) Verify(request Request, settings Settings, secrets []Secret) (Verified, error) {
	header, err := signatureHeader(request.Header, webhookSignature)
	if err != nil {
		return Verified{}, err
	}
	id, err := readWebhookID(request)
	if err != nil {
		return Verified{}, err
	}
	text, signedAt, err := timeHeader(request.Header, webhookTimestamp)
	if err != nil {
		return Verified{}, err
	}
	list, err := splitLabelled(webhookSignature, header, " ", ",")
	if err != nil {
		return Verified{}, err
	}
	sent, err := sentSignatures(webhookSignature, list, webhookVersions)
	if err != nil {
		return Verified{}, err
	}
	secret, ok := matchWebhook(secrets, signedParts(id, text, request.Body), sent)
	if !ok {
		return Verified{}, mismatch(webhookSignature, secrets)
	}
	skew, err := checkTime(webhookTimestamp, signedAt, request, settings)
	if err != nil {
		return Verified{}, err
	}
	event := Identity{Key: id, Type: eventType(textOf(topLevel(request.Body)["type"]))}
	return Verified{Secret: secret, Skew: skew, Events: []Identity{event}}, nil
}

// readWebhookID refuses a full stop, which parts the id from the time in what
// is signed: with one inside, another id and body could have the same text.
func readWebhookID(request Request) (string, error) {
	id, err := signatureHeader(request.Header, webhookID)
	if err != nil {
		return "", err
	}
	if strings.Contains(id, ".") {
		return "", malformed(webhookID, "The header "+webhookID+" holds a full stop, which an id of Standard Webhooks may not.")
	}
	return id, nil
}

// matchWebhook returns the first secret that one of the sent signatures of its
// own version proves.
func matchWebhook(secrets []Secret, signed [][]byte, sent map[string][][]byte) (gateway.SecretID, bool) {
	for _, secret := range secrets {
		key, err := parseWebhookKey(string(secret.Value))
		if err != nil {
			continue // an unusable secret proves nothing
		}
		if key.proves(signed, sent) {
			return secret.ID, true
		}
	}
	return gateway.SecretID{}, false
}

func (k webhookKey) proves(signed [][]byte, sent map[string][][]byte) bool {
	if k.public == nil {
		macs := sent[versionHMAC]
		return len(macs) > 0 && equalsAny(computeHMAC(sha256.New, k.symmetric, signed), macs)
	}
	if len(sent[versionEd25519]) == 0 {
		return false
	}
	message := bytes.Join(signed, nil)
	for _, sig := range sent[versionEd25519] {
		if ed25519.Verify(k.public, message, sig) {
			return true
		}
	}
	return false
}
