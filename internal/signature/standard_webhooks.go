package signature

// standardWebhooks verifies what the Standard Webhooks specification defines;
// webhooksProof says how. The id is signed and the same in every retry; the
// type is in the body.
//
// Source: standardwebhooks.com, "Standard Webhooks Specification".
var standardWebhooks = &provider{
	info: Info{
		Kind: "standard_webhooks", Name: "Standard Webhooks", Summary: "HMAC v1 or Ed25519 v1a", Group: GroupGeneric,
		Words: "whsec whpk openai supabase render",
		Docs:  "https://www.standardwebhooks.com",
		Secret: SecretInfo{
			Name: "Signing secret or public key", After: true,
			From: "The sender shows it beside its webhook’s address: a secret begins with whsec_, a public key with whpk_.",
		},
		Timed: true,
		Steps: []string{
			"Open the sender’s page for webhooks and add an endpoint.",
			"Paste the ingest URL as its address and choose the events.",
			"Copy the endpoint’s signing secret. If it is not the one you entered here, change the secret.",
		},
		Protects: "The body, the event’s id and the time are signed.",
		Key:      KeyInfo{From: "webhook-id", Signed: true},
		Answer:   "Any 2xx, within 15 to 30 seconds.",
		Retries:  "As the sender chooses; about ten over three days are recommended, always with the same id.",
	},
	secret: checkWebhookKey,
	proof:  webhooksProof{headersWebhook},
	events: reader{id: header(headersWebhook.id), kind: field("type")},
	sample: sample{header: map[string]string{headersWebhook.id: "msg_{id}"}, body: webhookSample},
}

const webhookSample = `{"type":"contact.created","timestamp":"{time}","data":{"id":"1f81eb52-5198-4599-803e-771906343485"}}`
