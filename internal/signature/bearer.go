package signature

import (
	"cmp"
	"encoding/json"
	"net/http"
)

// bearer takes requests that carry a token, in Authorization as RFC 6750 says or
// as it is in a header that the settings name. That shows who sends, and
// protects nothing of what is sent.
var bearer = &provider{
	info: Info{
		Kind: "bearer", Name: "Bearer token", Summary: "A token in a header", Group: GroupGeneric,
		Words:  "authorization api key token header",
		Secret: SecretInfo{Name: "Token", MadeUp: true, From: "Make up a long random text and enter the same one at the sender."},
		Settings: append([]Setting{{
			Name: "header", Label: "Header with the token", Example: authorization, Mono: true, Wide: true, MaxLength: maxHeaderNameLen,
			Hint: "Left empty: Authorization, with “Bearer” before the token. Any other header holds the token alone.",
		}}, nameFields...),
		BodyOpen: true, Bare: true,
		Steps: []string{
			"Open the sender’s settings for webhooks.",
			"Paste the ingest URL as the address to send to.",
			"Add a header with the token, or choose bearer authentication, and enter the token.",
		},
		Protects: "Nothing is signed: whoever has the token can send anything.",
		Key:      KeyInfo{From: "the header that the settings name"},
		Answer:   "200 with the event’s id.",
	},
	plan:   bearerPlan,
	sample: sample{body: `{"id":"{id}","hello":"from the test console"}`},
}

// bearerPlan reads the token where the settings say that it stands.
func bearerPlan(raw json.RawMessage) (plan, error) {
	named, err := namesIn(raw)
	token := tokenProof{header: http.CanonicalHeaderKey(cmp.Or(named.Header, authorization))}
	if token.header == authorization {
		token.prefix = "Bearer "
	}
	return plan{proof: token, events: named.events(), secretHeaders: []string{token.header}, idHeader: named.IDHeader}, err
}
