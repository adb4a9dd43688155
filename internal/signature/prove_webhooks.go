package signature

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"strings"

	"github.com/rowlock/rowlock/internal/gateway"
)

// webhooksProof proves requests as the Standard Webhooks specification says:
// a signature over "{id}.{timestamp}.{body}", as "v1,BASE64" (HMAC-SHA256) or
// "v1a,BASE64" (Ed25519), several of them parted by spaces.
//
// A whsec_ secret checks v1 alone and a whpk_ key v1a alone: a public key used
// as an HMAC key would let everybody sign.
//
// Its entries are the names that the headers can have. A request is read under
// the first of them whose signature it carries.
type webhooksProof []webhookHeaders

// webhookHeaders are the names of the headers of Standard Webhooks.
type webhookHeaders struct{ id, timestamp, signature string }

var (
	headersWebhook = webhookHeaders{"Webhook-Id", "Webhook-Timestamp", "Webhook-Signature"}
	headersSvix    = webhookHeaders{"Svix-Id", "Svix-Timestamp", "Svix-Signature"}
)

const (
	versionHMAC    = "v1"
	versionEd25519 = "v1a"
)

var webhookVersions = map[string]version{
	versionHMAC:    {size: sha256.Size, decode: decodeBase64},
	versionEd25519: {size: ed25519.SignatureSize, decode: decodeBase64},
}

// checkWebhookKey stores keys in one form: prefix and padded base64.
func checkWebhookKey(pasted string) (string, error) {
	key, err := parseWebhookKey(pasted)
	if err != nil {
		return "", err
	}
	return key.String(), nil
}

// names are those under which the request carries its signature.
func (p webhooksProof) names(r Request) webhookHeaders {
	for _, names := range p {
		if len(r.Header.Values(names.signature)) > 0 {
			return names
		}
	}
	return p[0]
}

func (p webhooksProof) prove(r Request, settings Settings, secrets []Secret) (proof, error) {
	names := p.names(r)
	header, err := signatureHeader(r.Header, names.signature)
	if err != nil {
		return proof{}, err
	}
	id, err := names.readID(r)
	if err != nil {
		return proof{}, err
	}
	text, signedAt, err := timeHeader(r.Header, names.timestamp, inSeconds)
	if err != nil {
		return proof{}, err
	}
	list, err := splitLabelled(names.signature, header, " ", ",")
	if err != nil {
		return proof{}, err
	}
	sent, err := sentSignatures(names.signature, list, webhookVersions)
	if err != nil {
		return proof{}, err
	}
	secret, ok := matchWebhook(secrets, signedParts(id, text, r.Body), sent)
	if !ok {
		return proof{}, mismatch(names.signature, secrets)
	}
	skew, err := checkTime(names.timestamp, signedAt, r, settings)
	return proof{secret: secret, skew: skew, id: id}, err
}

// readID refuses a full stop, which parts the id from the time in what is
// signed: with one inside, another id and body could have the same text.
func (names webhookHeaders) readID(r Request) (string, error) {
	id, err := signatureHeader(r.Header, names.id)
	if err != nil {
		return "", err
	}
	if strings.Contains(id, ".") {
		return "", malformed(names.id, "The header "+names.id+" holds a full stop, which an id of Standard Webhooks may not.")
	}
	return id, nil
}

// matchWebhook returns the first secret that one of the sent signatures of its
// own version proves.
func matchWebhook(secrets []Secret, signed [][]byte, sent map[string][][]byte) (Secret, bool) {
	for _, secret := range secrets {
		key, err := parseWebhookKey(string(secret.Value))
		if err != nil {
			continue // an unusable secret proves nothing
		}
		if key.proves(signed, sent) {
			return secret, true
		}
	}
	return Secret{}, false
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

// sign takes whsec_ secrets and whsk_ private keys.
func (p webhooksProof) sign(r *Request, _ Settings, secret string) error {
	key, err := ParseSigningKey(secret)
	if err != nil {
		return err
	}
	names := p[0]
	r.Header.Set(names.timestamp, inSeconds.format(r.Now))
	r.Header.Set(names.signature, Sign([]SigningKey{key}, r.Header.Get(names.id), r.Now.Unix(), r.Body))
	return nil
}

// newPair makes a pair for sources whose secret is a whpk_ key.
func (webhooksProof) newPair() (public, private string) {
	key := NewSigningKey(gateway.SignatureEd25519)
	return key.Public(), key.Secret()
}
