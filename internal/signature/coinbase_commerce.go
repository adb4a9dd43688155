package signature

// coinbaseCommerce verifies Coinbase Commerce's webhooks: HMAC-SHA256 over the
// body, keyed with the shared secret as text, in X-CC-Webhook-Signature as bare
// hex.
//
// event.id is the event's; the outer id and attempt_number belong to the
// delivery, so that the body changes with each attempt.
//
// Source: docs.cdp.coinbase.com/commerce, "Webhooks"; coinbase-commerce-node's
// tests.
var coinbaseCommerce = &provider{
	info: Info{
		Kind: "coinbase_commerce", Name: "Coinbase Commerce", Summary: "HMAC over the body", Group: GroupPayments,
		Words: "crypto charge bitcoin payment",
		Docs:  "https://docs.cdp.coinbase.com/commerce/docs/webhooks",
		Secret: SecretInfo{
			Name: "Shared secret", After: true,
			From: "In Commerce, open Settings, then Notifications, and choose “Show shared secret”.",
		},
		Steps: []string{
			"In Commerce, open Settings, then Notifications, and choose “Add an endpoint”.",
			"Paste the ingest URL, and save.",
			"Choose “Show shared secret”. If it is not the one you entered here, change the secret.",
		},
		Protects: "The body, with the event’s id in it, is signed; the time is not.",
		Key:      KeyInfo{From: "the body’s event.id", Signed: true, Scope: "The outer id is that of the delivery, and is not used."},
		Answer:   "200.",
		Retries:  "For some days with growing waits.",
	},
	proof:  macProof{header: "X-Cc-Webhook-Signature"},
	events: reader{id: field("event", "id"), kind: field("event", "type")},
	sample: sample{
		body: `{"id":1,"scheduled_for":"{time}","attempt_number":1,"event":{"id":"{id}","type":"charge:created","api_version":"2018-03-22","created_at":"{time}","data":{"code":"TEST"}}}`,
	},
}
