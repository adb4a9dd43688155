package signature

import "net/http"

// notion verifies Notion's webhooks: HMAC-SHA256 over the body, keyed with the
// verification token as text, in X-Notion-Signature as "sha256=" and hex.
//
// Notion sends that token to a new address, unsigned, and wants it pasted back
// by a person before it sends anything else.
//
// Source: developers.notion.com/reference/webhooks.
var notion = &provider{
	info: Info{
		Kind: "notion", Name: "Notion", Summary: "HMAC over the body", Group: GroupWork,
		Words: "page database comment wiki",
		Docs:  "https://developers.notion.com/reference/webhooks",
		Secret: SecretInfo{
			Name: "Verification token", Captured: true, Back: true,
			From: "Notion sends it to the ingest URL. Leave this empty to have it taken from there.",
		},
		Steps: []string{
			"At notion.so/my-integrations, open the integration, then the tab “Webhooks”, and create a subscription.",
			"Paste the ingest URL as the “Webhook URL” and choose the events. Notion sends a token to it at once.",
			"Show the token on this source’s page, and paste it at Notion under “Verify”.",
		},
		Protects: "The body, with the event’s id in it, is signed; the time is not.",
		Key:      KeyInfo{From: "the body’s id", Signed: true},
		Answer:   "Any 2xx.",
		Retries:  "Up to eight times with growing waits over about 24 hours; the id stays, attempt_number grows.",
		Notes:    []string{"Notion gathers changes before it tells of them: events may come minutes late."},
	},
	proof:    macProof{header: "X-Notion-Signature", prefix: "sha256="},
	greeting: notionToken,
	events:   reader{id: field("id"), kind: field("type")},
	sample:   sample{body: `{"id":"{id}","timestamp":"{time}","type":"page.created","attempt_number":1,"entity":{"id":"153104cd-477e-809d-8dc4-ff2d96ae3090","type":"page"}}`},
}

// notionToken takes the token that comes unsigned, to a new address.
func notionToken(r Request, _ Settings) (*Handshake, error) {
	if len(r.Header.Values("X-Notion-Signature")) > 0 {
		return nil, nil
	}
	in := newInput(r)
	token := field("verification_token")(in)
	if token == "" || len(in.members) != 1 {
		return nil, nil
	}
	return &Handshake{Answer: *plain(http.StatusOK), Detail: "Notion sent its verification token.", Secret: token}, nil
}
