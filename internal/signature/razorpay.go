package signature

// razorpay verifies Razorpay's webhooks: HMAC-SHA256 over the body, keyed with
// the webhook's secret as text, as hex in X-Razorpay-Signature. Bodies hold
// UTF-8 as it is.
//
// The event's id is in X-Razorpay-Event-Id alone, the same in every retry, and
// not signed. The body has none.
//
// Source: razorpay.com/docs/webhooks, "Best Practices" and "Validate and Test";
// razorpay-python's and razorpay-go's tests.
var razorpay = &provider{
	info: Info{
		Kind: "razorpay", Name: "Razorpay", Summary: "HMAC over the body", Group: GroupPayments,
		Words: "payment order refund subscription payout india upi",
		Docs:  "https://razorpay.com/docs/webhooks/",
		Secret: SecretInfo{
			Name: "Webhook secret", MadeUp: true,
			From: "Make up a long random text and enter the same one here and at Razorpay, under “Secret”. It is not the secret of an API key.",
		},
		Steps: []string{
			"In Razorpay’s Dashboard, open “Account & Settings”, then Webhooks under “Website and app settings”, and choose “Add New Webhook”.",
			"Paste the ingest URL as the “Webhook URL” and enter the same secret under “Secret”.",
			"Choose the active events and create the webhook. The test mode and the live mode have webhooks of their own.",
		},
		Protects: "The body is signed; the event’s id and the time are not.",
		Key: KeyInfo{
			From:  "X-Razorpay-Event-Id",
			Scope: "A retry has the same id. A request without the header has no key.",
		},
		Answer:  "Any 2xx within 5 seconds.",
		Retries: "With growing waits for 24 hours after the event; then the webhook is disabled.",
		Notes:   []string{"Razorpay does not promise any order."},
	},
	proof:  macProof{header: "X-Razorpay-Signature"},
	events: reader{id: header("X-Razorpay-Event-Id"), kind: field("event")},
	sample: sample{
		header: map[string]string{"X-Razorpay-Event-Id": "{id}"},
		body:   `{"entity":"event","account_id":"acc_BFQ7uQEaa7j2z7","event":"payment.captured","contains":["payment"],"payload":{"payment":{"entity":{"id":"pay_DESlfW9H8K9uqM","entity":"payment","amount":100,"currency":"INR","status":"captured","notes":[]}}},"created_at":{unix}}`,
	},
}
