package signature

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
)

// hubspot verifies HubSpot's webhooks, keyed with the app's client secret as
// text. Version 3 is HMAC-SHA256 over method, address, body and the time in
// milliseconds as the header has it, in base64; some escapes of the address are
// decoded first. The older versions are a plain SHA-256, over secret and body
// (1) or secret, method, address and body (2), and are taken only where the
// source allows them, and never from a request that carries version 3.
//
// A request is a list of events. Their eventId is not unique by itself, and
// attemptNumber changes with each retry. What a workflow sends has no ids, and
// with GET not even a body: equal ones can be honest, and have no key.
//
// Source: developers.hubspot.com, "Validating requests"; hubspot-api-nodejs'
// test/unit/signature.spec.ts.
var hubspot = &provider{
	info: Info{
		Kind: "hubspot", Name: "HubSpot", Summary: "HMAC, method, address, body, time", Group: GroupWork,
		Words: "crm contact deal company workflow",
		Docs:  "https://developers.hubspot.com/docs/api/webhooks",
		Secret: SecretInfo{
			Name: "Client secret",
			From: "In the developer account, on the app’s page, under Auth.",
		},
		Settings: []Setting{{
			Name: "allow_versions", Label: "Older signatures", Choices: []string{"v1", "v2"}, Many: true,
			Hint: "Version 3 is always taken. The older ones are plain hashes and sign no time: who has seen one request can send it again, with bytes added to its end, without the secret, by leaving the header of version 3 out. Allow one only if your webhooks have nothing newer.",
		}},
		Timed: true, URLSigned: true, Batch: true, Methods: []string{http.MethodGet},
		Steps: []string{
			"In the developer account, open the app, then Webhooks.",
			"Paste the ingest URL as the “Target URL”, exactly as it is shown, and save.",
			"Create the subscriptions and activate them.",
		},
		Protects: hubspotProtects,
		Key: KeyInfo{
			From: "each event’s portalId, subscriptionId, eventId and occurredAt together", Signed: true,
			Scope: "The eventId alone is not unique. A workflow’s webhook has no such ids, and no key.",
		},
		Answer:  "Any 2xx within 5 seconds.",
		Retries: "Up to ten times over about 24 hours. Workflow webhooks also stop at a 4xx but 429.",
	},
	plan: hubspotPlan,
	sample: sample{
		body: `[{"eventId":"{id}","subscriptionId":12345,"portalId":62515,"occurredAt":{ms},"subscriptionType":"contact.creation","attemptNumber":0,"objectId":123,"changeSource":"CRM"}]`,
	},
}

const (
	hubspotV3      = "X-Hubspot-Signature-V3"
	hubspotTime    = "X-Hubspot-Request-Timestamp"
	hubspotOlder   = "X-Hubspot-Signature"
	hubspotVersion = "X-Hubspot-Signature-Version"
)

var errHubspotVersions = errors.New(`setting "allow_versions" is not a list of v1 and v2`)

// hubspotAllowed are the older versions that a source takes.
func hubspotAllowed(raw json.RawMessage) ([]string, error) {
	var allowed []string
	if err := decodeSettings(raw, map[string]any{"allow_versions": &allowed}); err != nil {
		return nil, err
	}
	for i, v := range allowed {
		if v != "v1" && v != "v2" || slices.Contains(allowed[:i], v) {
			return nil, errHubspotVersions
		}
	}
	return allowed, nil
}

const hubspotProtects = "Method, address, the body with the events’ ids in it, and the time are signed."

// hubspotPlan tells what the versions that are taken protect.
func hubspotPlan(raw json.RawMessage) (plan, error) {
	allowed, err := hubspotAllowed(raw)
	protects := hubspotProtects
	if len(allowed) > 0 {
		protects = "Version 3 signs method, address, the body with the events’ ids in it, and the time. But " + strings.Join(allowed, " and ") +
			" may come in its place: no time is signed then, and bytes can be added to a body without the secret."
	}
	return plan{
		proof: hubspotProof{allowed},
		events: reader{
			list: listAt(),
			id:   field("eventId"),
			key:  all(field("portalId"), field("subscriptionId"), field("eventId"), field("occurredAt")),
			kind: firstOf(field("subscriptionType"), field("eventTypeId")),
		},
		protects: protects,
	}, err
}

// hubspotProof takes version 3, and those that are allowed beside it.
type hubspotProof struct{ allowed []string }

func (p hubspotProof) prove(r Request, settings Settings, secrets []Secret) (proof, error) {
	version := identityHeader(r.Header, hubspotVersion)
	if len(r.Header.Values(hubspotV3)) == 0 && slices.Contains(p.allowed, version) {
		return hubspotOld(r, version, secrets)
	}
	text, err := signatureHeader(r.Header, hubspotV3)
	if err != nil {
		return proof{}, err
	}
	sent, ok := decodeBase64(text, sha256.Size)
	if !ok {
		return proof{}, malformed(hubspotV3, "The header "+hubspotV3+" is not base64 of the length that sha256 has.")
	}
	stamp, at, err := timeHeader(r.Header, hubspotTime, inMillis)
	if err != nil {
		return proof{}, err
	}
	secret, ok := matchHMAC(sha256.New, secrets, hubspotText(r, stamp), [][]byte{sent})
	if !ok {
		return proof{}, mismatch(hubspotV3, secrets)
	}
	skew, err := checkTime(hubspotTime, at, r, settings)
	return proof{secret: secret, skew: skew}, err
}

// hubspotOld judges version 1 or 2.
func hubspotOld(r Request, version string, secrets []Secret) (proof, error) {
	text, err := signatureHeader(r.Header, hubspotOlder)
	if err != nil {
		return proof{}, err
	}
	sent, ok := decodeHex(text, sha256.Size)
	if !ok {
		return proof{}, malformed(hubspotOlder, "The header "+hubspotOlder+" is not hex of the length that sha256 has.")
	}
	for _, secret := range secrets {
		sum := sha256.New()
		sum.Write(secret.Value)
		if version == "v2" {
			sum.Write([]byte(r.Method + r.URL))
		}
		sum.Write(r.Body)
		if len(secret.Value) > 0 && equalsAny(sum.Sum(nil), [][]byte{sent}) {
			return proof{secret: secret}, nil
		}
	}
	return proof{}, mismatch(hubspotOlder, secrets)
}

// hubspotText is what version 3 signs.
func hubspotText(r Request, stamp string) [][]byte {
	return [][]byte{[]byte(r.Method), []byte(hubspotEscapes.Replace(r.URL)), r.Body, []byte(stamp)}
}

// hubspotEscapes are the escapes that are decoded before an address is signed;
// all others stay.
var hubspotEscapes = func() *strings.Replacer {
	var pairs []string
	for _, c := range ":/?@!$'()*,;" {
		escape := "%" + strings.ToUpper(inHex.encode([]byte{byte(c)}))
		pairs = append(pairs, escape, string(c), strings.ToLower(escape), string(c))
	}
	return strings.NewReplacer(pairs...)
}()

func (hubspotProof) sign(r *Request, _ Settings, secret string) error {
	stamp := inMillis.format(r.Now)
	r.Header.Set(hubspotTime, stamp)
	r.Header.Set(hubspotV3, inBase64.encode(computeHMAC(sha256.New, []byte(secret), hubspotText(*r, stamp))))
	return nil
}
