package signature

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
)

// basicAuth takes requests that carry a user and a password, as RFC 7617 says.
// That shows who sends, and protects nothing of what is sent.
var basicAuth = &provider{
	info: Info{
		Kind: "basic", Name: "Basic authentication", Summary: "User and password", Group: GroupGeneric,
		Words: "authorization username password",
		Secret: SecretInfo{
			Name: "User and password", From: "With a colon between, such as hooks:correct-horse. Enter the same two at the sender.",
		},
		Settings: nameFields, BodyOpen: true, Bare: true,
		Steps: []string{
			"Open the sender’s settings for webhooks.",
			"Paste the ingest URL as the address to send to.",
			"Choose basic authentication, and enter the user and the password.",
		},
		Protects: "Nothing is signed: whoever has the password can send anything.",
		Key:      KeyInfo{From: "the header that the settings name"},
		Answer:   "200 with the event’s id.",
	},
	secret: basicSecret,
	plan: func(raw json.RawMessage) (plan, error) {
		named, err := namesIn(raw)
		if err == nil && named.Header != "" {
			err = errHeaderUnused
		}
		return plan{proof: basicProof{}, events: named.events(), idHeader: named.IDHeader}, err
	},
	sample: sample{body: `{"id":"{id}","hello":"from the test console"}`},
}

var errHeaderUnused = errors.New(`unknown setting "header"`)

var errBasicColon = errors.New("the secret is not a user and a password with a colon between")

func basicSecret(pasted string) (string, error) {
	secret, err := checkText(pasted)
	if err == nil && !strings.Contains(secret, ":") {
		err = errBasicColon
	}
	if err != nil {
		return "", err
	}
	return secret, nil
}

type basicProof struct{}

const authorization = "Authorization"

func (basicProof) prove(r Request, _ Settings, secrets []Secret) (proof, error) {
	if _, err := signatureHeader(r.Header, authorization); err != nil {
		return proof{}, err
	}
	user, password, ok := (&http.Request{Header: r.Header}).BasicAuth()
	if !ok {
		return proof{}, malformed(authorization, "The header "+authorization+" holds no basic authentication.")
	}
	for _, secret := range secrets {
		if sameText(secret.Value, []byte(user+":"+password)) {
			return proof{secret: secret}, nil
		}
	}
	return proof{}, wrongToken(authorization, secrets)
}

func (basicProof) sign(r *Request, _ Settings, secret string) error {
	r.Header.Set(authorization, "Basic "+base64.StdEncoding.EncodeToString([]byte(secret)))
	return nil
}

// nameFields are the settings that name the headers of the event's id and type.
var nameFields = []Setting{
	{
		Name: "id_header", Label: "Header with the event’s ID", Example: "X-Event-Id", Mono: true, MaxLength: maxHeaderNameLen,
		Hint: "Repeats are known by it.",
	},
	{
		Name: "type_header", Label: "Header with the event’s type", Example: "X-Event-Type", Mono: true, MaxLength: maxHeaderNameLen,
		Hint: "Left empty: webhook.received.",
	},
}

// namesIn reads those settings; header is one that some of the kinds have beside
// them.
func namesIn(raw json.RawMessage) (s hmacSettings, err error) {
	err = decodeSettings(raw, map[string]any{"header": &s.Header, "id_header": &s.IDHeader, "type_header": &s.TypeHeader})
	if err != nil {
		return s, err
	}
	if err := s.checkHeaders(); err != nil {
		return s, err
	}
	return s, s.checkOpen(s.Header)
}
