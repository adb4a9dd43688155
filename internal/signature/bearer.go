package signature

import (
	"cmp"
	"encoding/json"
	"net/http"
)

// bearer takes requests that carry a token, in Authorization as RFC 6750 says or
// as it is in a header that the settings name. That shows who sends, and
// protects nothing of what is sent.
var bearer = &bearerKind{named{provider{
	info: Info{
		Kind: "bearer", Name: "Bearer token", Summary: "A token in a header", Group: GroupGeneric,
		Words:  "authorization api key token header",
		Secret: SecretInfo{Name: "Token", From: "Make up a long random text and enter the same one at the sender."},
		Settings: append([]Setting{{
			Name: "header", Label: "Header with the token", Example: authorization, Mono: true, Wide: true, MaxLength: maxHeaderNameLen,
			Hint: "Left empty: Authorization, with “Bearer” before the token. Any other header holds the token alone.",
		}}, nameFields...),
		BodyOpen: true,
		Steps: []string{
			"Open the sender’s settings for webhooks.",
			"Paste the ingest URL as the address to send to.",
			"Add a header with the token, or choose bearer authentication, and enter the token.",
		},
		Protects: "Nothing is signed: whoever has the token can send anything.",
		Key:      KeyInfo{From: "the header that the settings name"},
		Answer:   "200 with the event’s id.",
	},
	proof:  bearerProof{},
	sample: sample{body: `{"id":"{id}","hello":"from the test console"}`},
}}}

type bearerKind struct{ named }

// SecretHeaders is the header that the settings name: it holds the token.
func (*bearerKind) SecretHeaders(raw json.RawMessage) []string {
	if s, err := namesIn(raw); err == nil && s.Header != "" {
		return []string{http.CanonicalHeaderKey(s.Header)}
	}
	return nil
}

// CheckSettings takes a header beside what named takes.
func (*bearerKind) CheckSettings(raw json.RawMessage) error {
	_, err := namesIn(raw)
	return err
}

// bearerProof reads the header that the settings name.
type bearerProof struct{}

func (bearerProof) in(settings Settings) tokenProof {
	s, err := namesIn(settings.Raw)
	if err != nil {
		return tokenProof{header: authorization, prefix: "Bearer "} // checked when it was saved
	}
	name := http.CanonicalHeaderKey(cmp.Or(s.Header, authorization))
	if name == authorization {
		return tokenProof{header: name, prefix: "Bearer "}
	}
	return tokenProof{header: name}
}

func (p bearerProof) prove(r Request, settings Settings, secrets []Secret) (proof, error) {
	return p.in(settings).prove(r, settings, secrets)
}

func (p bearerProof) sign(r *Request, settings Settings, secret string) error {
	return p.in(settings).sign(r, settings, secret)
}
