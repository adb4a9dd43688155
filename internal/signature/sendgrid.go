package signature

// sendgrid verifies SendGrid's event webhook: ECDSA over P-256 and SHA-256 of
// the timestamp and the body with nothing between, as base64 of DER. The key
// is the public half, base64 of its SPKI. The line breaks that SendGrid puts
// between and after the events are signed too.
//
// A request is a list of events, each with an sg_event_id; the same event can
// come many times, in other company.
//
// Source: twilio.com/docs/sendgrid, "Getting Started with the Event Webhook
// Security Features"; sendgrid-go's helpers/eventwebhook.
var sendgrid = &provider{
	info: Info{
		Kind: "sendgrid", Name: "SendGrid", Summary: "ECDSA, time and body", Group: GroupMessaging,
		Words: "twilio mail email bounce delivered open click",
		Docs:  "https://www.twilio.com/docs/sendgrid/for-developers/tracking-events/event",
		Secret: SecretInfo{
			Name: "Verification key", After: true, Public: true,
			From: "A public key in base64. SendGrid shows it under “Signature Verification” once “Signed Event Webhook” is enabled.",
		},
		Timed: true, Batch: true,
		Steps: []string{
			"At SendGrid, open Settings, then “Mail Settings”, then “Event Webhooks”, and create a webhook.",
			"Paste the ingest URL as the “Post URL” and choose the actions.",
			"Enable “Signed Event Webhook” under “Security features”, save, and copy the verification key. If it is not the one you entered here, change it.",
		},
		Protects: "The body, with the events’ ids in it, and the time are signed.",
		Key: KeyInfo{
			From: "each event’s sg_event_id", Signed: true,
			Scope: "SendGrid tells one event many times, also within one request: each is taken once.",
		},
		Answer:  "Any 2xx within about 10 seconds.",
		Retries: "With growing waits for up to 24 hours.",
	},
	secret: sendgridProof.checkKey,
	proof:  sendgridProof,
	events: reader{list: listAt(), id: field("sg_event_id"), kind: field("event")},
	sample: sample{
		body: "[{\"email\":\"someone@example.com\",\"timestamp\":{unix},\"event\":\"processed\",\"sg_event_id\":\"{id}-1\",\"sg_message_id\":\"test.filter0001\"},\r\n" +
			"{\"email\":\"someone@example.com\",\"timestamp\":{unix},\"event\":\"delivered\",\"sg_event_id\":\"{id}-2\",\"sg_message_id\":\"test.filter0001\"}]\r\n",
	},
}

var sendgridProof = publicProof{
	header: "X-Twilio-Email-Event-Webhook-Signature", encoding: inBase64, scheme: schemeECDSA, key: keyBase64,
	signed: signs("{timestamp}", "{body}"), timeHeader: "X-Twilio-Email-Event-Webhook-Timestamp", unit: inSeconds,
}
