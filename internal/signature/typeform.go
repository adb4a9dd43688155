package signature

// typeform verifies Typeform's webhooks: HMAC-SHA256 over the body, keyed with
// the secret as text, in Typeform-Signature as "sha256=" and base64, where
// others use hex behind the same prefix. A webhook without a secret is not
// signed.
//
// The event's id is in the body. form_response.token names the submission.
//
// Source: typeform.com/developers/webhooks, "Secure your webhooks"; the SDK's
// tests for bodies. Deadline and retries are not taken from there.
var typeform = &provider{
	info: Info{
		Kind: "typeform", Name: "Typeform", Summary: "HMAC over the body", Group: GroupWork,
		Words: "form survey quiz response answer submission",
		Docs:  "https://www.typeform.com/developers/webhooks/",
		Secret: SecretInfo{
			Name: "Webhook secret", MadeUp: true,
			From: "Make up a long random text and enter the same one here and at Typeform, under “Secret”.",
		},
		Steps: []string{
			"At Typeform, open the form, then Connect, then Webhooks, and choose “Add a webhook”.",
			"Paste the ingest URL as the “Endpoint” and save.",
			"Choose Edit, enter the same secret under “Secret”, and save.",
			"Switch the webhook on: a new one is off.",
		},
		Protects: "The body, with the event’s id in it, is signed; the time is not.",
		Key: KeyInfo{
			From: "the body’s event_id", Signed: true,
			Scope: "To take a submission once, whatever is told of it, use form_response.token in a rule.",
		},
		Answer:  "Any 2xx within about 30 seconds.",
		Retries: "A few times with growing waits; after 408, 423, 429 or 503 every 2 to 3 minutes for about 10 hours. A 404 or a 410 disables the webhook.",
		Notes:   []string{"Typeform does not sign while the webhook has no secret, and Rowlock refuses what is not signed."},
	},
	proof:  macProof{header: "Typeform-Signature", prefix: "sha256=", encoding: inBase64},
	events: reader{id: field("event_id"), kind: field("event_type")},
	sample: sample{body: `{"event_id":"{id}","event_type":"form_response","form_response":{"form_id":"lT4Z3j","token":"a3a12ec67a1365927098a606107fac15","submitted_at":"{time}","landed_at":"{time}","answers":[{"type":"text","text":"Sent from the test console","field":{"id":"field1","type":"short_text"}}]}}`},
}
