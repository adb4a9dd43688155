package signature

// svix verifies webhooks that Svix sends for its customers: Standard Webhooks
// under the older names svix-id, svix-timestamp and svix-signature, or under
// those of the standard.
//
// Source: docs.svix.com/receiving/verifying-payloads/how-manual.
var svix = svixCustomer(Info{
	Kind: "svix", Name: "Svix", Summary: "Standard Webhooks, svix-* headers", Group: GroupGeneric,
	Words: "svix-signature",
	Docs:  "https://docs.svix.com/receiving/introduction",
	Steps: []string{
		"Open the sender’s webhook portal and add an endpoint.",
		"Paste the ingest URL as the “Endpoint URL” and choose the events.",
		"Copy the endpoint’s “Signing Secret”. If it is not the one you entered here, change the secret.",
	},
}, webhookSample)

// svixCustomer is the provider of a service whose webhooks Svix sends. What all
// of them share is filled in.
func svixCustomer(info Info, body string) *provider {
	info.Timed = true
	info.Secret = SecretInfo{Name: "Signing secret", After: true, From: "It begins with whsec_ and is shown on the endpoint’s page."}
	info.Protects = "The body, the event’s id and the time are signed."
	info.Key = KeyInfo{From: "svix-id, or webhook-id where the headers have the names of the standard", Signed: true}
	info.Answer = "Any 2xx within 15 seconds."
	info.Retries = "At once, then after 5 s, 5 min, 30 min, 2 h, 5 h and twice 10 h, with the same id. After five days of failures the endpoint is disabled."
	return &provider{
		info:   info,
		secret: checkWebhookKey,
		proof:  webhooksProof{headersSvix, headersWebhook},
		events: reader{id: firstOf(provenID, header(headersSvix.id), header(headersWebhook.id)), kind: field("type")},
		sample: sample{header: map[string]string{headersSvix.id: "msg_{id}"}, body: body},
	}
}
