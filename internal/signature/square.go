package signature

// square verifies Square's webhooks: HMAC-SHA256 over the notification URL, as
// it stands in the subscription, and the body, with nothing between, keyed with
// the signature key as text, in x-square-hmacsha256-signature as base64. The
// older SHA-1 header is never looked at.
//
// Source: developer.squareup.com/docs/webhooks/step3validate.
var square = &provider{
	info: Info{
		Kind: "square", Name: "Square", Summary: "HMAC, address and body", Group: GroupPayments,
		Words: "payment order pos seller terminal",
		Docs:  "https://developer.squareup.com/docs/webhooks/overview",
		Secret: SecretInfo{
			Name: "Signature key", After: true,
			From: "In the Developer Console, on the page of the webhook subscription.",
		},
		URLSigned: true,
		Steps: []string{
			"In the Developer Console, open the application, then Webhooks, then Subscriptions, and choose “Add subscription”.",
			"Paste the ingest URL as the “URL”, exactly as it is shown, choose the events, and save.",
			"Open the subscription and copy the “Signature key”. If it is not the one you entered here, change the secret.",
		},
		Protects: "The address and the body, with the event’s id in it, are signed; the time is not.",
		Key:      KeyInfo{From: "the body’s event_id", Signed: true},
		Answer:   "Any 2xx within 10 seconds; a redirect counts as a failure.",
		Retries:  "With growing waits for up to 24 hours. After three weeks without a 2xx the subscription is disabled.",
	},
	proof:  macProof{header: "X-Square-Hmacsha256-Signature", encoding: inBase64, signed: signs("{url}", "{body}")},
	events: reader{id: field("event_id"), kind: field("type")},
	sample: sample{
		body: `{"merchant_id":"6SSW7HV8K2ST5","type":"payment.updated","event_id":"{id}","created_at":"{time}","data":{"type":"payment","id":"test"}}`,
	},
}
