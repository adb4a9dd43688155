package signature

import (
	"crypto/sha256"
	"crypto/subtle"
	"strings"
)

// tokenProof proves requests by a header that is itself the secret: it shows
// who sends, and protects nothing of what is sent.
type tokenProof struct {
	header string
	// prefix comes before the secret, such as "Bearer ". Its case and the number
	// of spaces after it are the sender's.
	prefix string
}

func (p tokenProof) prove(r Request, _ Settings, secrets []Secret) (proof, error) {
	text, err := signatureHeader(r.Header, p.header)
	if err != nil {
		return proof{}, err
	}
	token, ok := p.token(text)
	if !ok {
		return proof{}, malformed(p.header, "The header "+p.header+" does not begin with "+strings.TrimSpace(p.prefix)+" as it should.")
	}
	for _, secret := range secrets {
		if sameText(secret.Value, []byte(token)) {
			return proof{secret: secret}, nil
		}
	}
	return proof{}, wrongToken(p.header, secrets)
}

func (p tokenProof) token(text string) (string, bool) {
	if p.prefix == "" {
		return text, true
	}
	if len(text) < len(p.prefix) || !strings.EqualFold(text[:len(p.prefix)], p.prefix) {
		return "", false
	}
	return strings.TrimLeft(text[len(p.prefix):], " "), true
}

func (p tokenProof) sign(r *Request, _ Settings, secret string) error {
	r.Header.Set(p.header, p.prefix+secret)
	return nil
}

// sameText compares in constant time, whatever the lengths. An empty secret is
// never the same.
func sameText(secret, sent []byte) bool {
	want, got := sha256.Sum256(secret), sha256.Sum256(sent)
	return subtle.ConstantTimeCompare(want[:], got[:]) == 1 && len(secret) > 0
}

// wrongToken is mismatch for what is not a signature.
func wrongToken(where string, secrets []Secret) *Refusal {
	refusal := mismatch(where, secrets)
	if len(secrets) > 0 {
		refusal.Detail = "What " + where + " holds is no live secret of this source."
	}
	return refusal
}
