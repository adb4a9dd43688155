package signature

// sentry verifies the webhooks of Sentry's integrations: HMAC-SHA256 over the
// body, keyed with the integration's client secret as text, as hex in
// Sentry-Hook-Signature. Sentry's own example signs the JSON after it was read
// and written again, which is right for plain text alone: what counts are the
// bytes.
//
// Sentry-Hook-Timestamp is not signed and so proves nothing. Neither is
// Request-ID, which names the request. Sentry documents no retries, and a body
// holds no id of the event: equal ones can be honest.
//
// Source: docs.sentry.io, "Integration Platform: Webhooks"; its changelog of
// October 2023 for the second that is left to answer.
var sentry = &provider{
	info: Info{
		Kind: "sentry", Name: "Sentry", Summary: "HMAC over the body", Group: GroupCode,
		Words: "error issue alert crash monitoring",
		Docs:  "https://docs.sentry.io/integrations/integration-platform/webhooks/",
		Secret: SecretInfo{
			Name: "Client secret", After: true,
			From: "Sentry shows it on the integration’s page, under “Credentials”, when the integration is saved.",
		},
		Steps: []string{
			"At Sentry, open Settings, then “Developer Settings” (“Custom Integrations” in newer versions), and create an internal integration.",
			"Paste the ingest URL as the “Webhook URL”.",
			"Give the permissions, tick the resources under “Webhooks”, and switch “Alert Rule Action” on if alerts are to come too. Save.",
			"Copy the “Client Secret”. If it is not the one you entered here, change the secret.",
		},
		Protects: "The body is signed; the request’s id, the resource and the time are not.",
		Key: KeyInfo{
			From:  "Request-ID",
			Scope: "Sentry does not say whether the id stays when it sends again.",
		},
		Answer:  "Any 2xx within 1 second: the tightest deadline of all.",
		Retries: "None are documented. An integration with a thousand timeouts in 24 hours is unsubscribed.",
		Notes:   []string{"The type is the resource, such as issue; what happened to it is in the body’s action."},
	},
	proof: macProof{header: "Sentry-Hook-Signature"},
	events: reader{
		id:   header("Request-Id"),
		kind: header("Sentry-Hook-Resource"),
	},
	sample: sample{
		header: map[string]string{"Request-Id": "{id}", "Sentry-Hook-Resource": "issue", "Sentry-Hook-Timestamp": "{unix}"},
		body:   `{"action":"created","installation":{"uuid":"a8e5d37a-696c-4c54-adb5-b3f28d64c7de"},"data":{"issue":{"id":"1170820242","shortId":"TEST-1","title":"Sent from the test console","status":"unresolved"}},"actor":{"type":"application","id":"sentry","name":"Sentry"}}`,
	},
}
