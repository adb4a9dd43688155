package signature

import "time"

// calendly verifies Calendly's webhooks: HMAC-SHA256 over "{t}.{body}", in
// Calendly-Webhook-Signature as "t=SECONDS,v1=HEX", with a time within three
// minutes. The key is the signing key as text.
//
// Events have no id: payload.uri names the invitee.
//
// Source: developer.calendly.com, "Webhook signatures".
var calendly = &provider{
	info: Info{
		Kind: "calendly", Name: "Calendly", Summary: "HMAC, time and body", Group: GroupWork,
		Words: "meeting invitee schedule appointment",
		Docs:  "https://developer.calendly.com/api-docs/4c305798a61d3-webhook-signatures",
		Secret: SecretInfo{
			Name: "Signing key", MadeUp: true,
			From: "Make up a long random text, and give the same one as “signing_key” when the subscription is created. Calendly never shows it.",
		},
		Timed: true, Tolerance: 3 * time.Minute,
		Steps: []string{
			"Calendly’s webhooks are made with its API: POST /webhook_subscriptions.",
			"Give the ingest URL as “url”, the events, the scope, and the “signing_key”.",
		},
		Protects: "The body and the time are signed.",
		Key: KeyInfo{
			From: "the event’s name, payload.uri and created_at together; if one is missing, the hash of the body", Signed: true,
			Scope: "The URI names the invitee, not the event.",
		},
		Answer:  "Any 2xx within 15 seconds; a redirect counts as a failure.",
		Retries: "With growing waits for about 24 hours. A 410 deletes the subscription.",
	},
	proof: macProof{
		header: "Calendly-Webhook-Signature", signed: signs("{timestamp}", ".", "{body}"),
		pairs: &pairs{between: ",", inside: "=", label: "v1", timeLabel: "t"},
	},
	events: reader{
		key:  firstOf(all(field("event"), field("payload", "uri"), field("created_at")), hashed),
		kind: field("event"),
	},
	sample: sample{
		body: `{"created_at":"{time}","created_by":"https://api.calendly.com/users/test","event":"invitee.created","payload":{"email":"someone@example.com","name":"Someone","status":"active","uri":"https://api.calendly.com/scheduled_events/test/invitees/{id}"}}`,
	},
}
