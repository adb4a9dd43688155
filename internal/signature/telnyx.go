package signature

// telnyx verifies Telnyx's webhooks: Ed25519 over "{timestamp}|{body}", in
// telnyx-signature-ed25519 as base64. The key is the account's public key,
// base64 of its 32 bytes.
//
// data.id is the event's and the same in every attempt, also to the failover
// URL; meta.attempt and meta.delivered_to change, and the body with them.
//
// Source: developers.telnyx.com, "Webhook signing"; telnyx-python's tests.
var telnyx = &provider{
	info: Info{
		Kind: "telnyx", Name: "Telnyx", Summary: "Ed25519, time and body", Group: GroupMessaging,
		Words: "sms mms call voice fax number message phone",
		Docs:  "https://developers.telnyx.com/docs/messaging/messages/receiving-webhooks",
		Secret: SecretInfo{
			Name: "Public key", Public: true,
			From: "In the Mission Control Portal, under “Keys & Credentials”, “Public Key”. There is one for each account.",
		},
		Timed: true,
		Steps: []string{
			"In the Mission Control Portal, open the messaging profile, the voice application or the connection.",
			"Paste the ingest URL as the “Webhook URL”; “Failover URL” can hold the same one.",
			"Choose the API version 2 for webhooks, and save.",
		},
		Protects: "The body, with the event’s id in it, and the time are signed.",
		Key:      KeyInfo{From: "the body’s data.id", Signed: true, Scope: "Attempts to the primary and to the failover URL have one id."},
		Answer:   "Any 2xx, of calls within about 2 seconds.",
		Retries:  "To the primary URL, then to the failover URL, as the product’s schedule says. Copies and other orders are normal.",
	},
	secret: telnyxProof.checkKey,
	proof:  telnyxProof,
	events: reader{id: field("data", "id"), kind: field("data", "event_type")},
	sample: sample{
		body: `{"data":{"record_type":"event","event_type":"message.finalized","id":"{id}","occurred_at":"{time}","payload":{"id":"ac012cbf-5e09-46af-a69a-7c0e2d90993c","direction":"outbound","to":[{"phone_number":"+13125550100","status":"delivered"}]}},"meta":{"attempt":1}}`,
	},
}

var telnyxProof = publicProof{
	header: "Telnyx-Signature-Ed25519", encoding: inBase64, scheme: schemeEd25519, key: keyBase64,
	signed: signs("{timestamp}", "|", "{body}"), timeHeader: "Telnyx-Timestamp", unit: inSeconds,
}
