package signature

// pagerDuty verifies PagerDuty's v3 webhooks: HMAC-SHA256 over the body, keyed
// with the secret as text (it looks like base64 and is not decoded), in
// X-PagerDuty-Signature as "v1=" and hex, several of them parted by commas while
// a secret is changed.
//
// X-Webhook-Id is one for each webhook and the same in all its attempts; it is
// not signed. The event's own id in the body goes to every subscription that
// hears of the event.
//
// Source: PagerDuty/developer-docs, docs/webhooks/02-Behavior.md and
// 04-Signatures.md; go-pagerduty's webhookv3.
var pagerDuty = &provider{
	info: Info{
		Kind: "pagerduty", Name: "PagerDuty", Summary: "HMAC over the body", Group: GroupCode,
		Words: "incident alert on-call service",
		Docs:  "https://docs.pagerduty.com/developer/verifying-webhook-signatures",
		Secret: SecretInfo{
			Name: "Webhook secret", After: true,
			From: "PagerDuty makes it and shows it once, when the webhook is added.",
		},
		Steps: []string{
			"At PagerDuty, open Integrations, then “Generic Webhooks (v3)”, and choose “New Webhook”.",
			"Paste the ingest URL as the “Webhook URL”, and choose the scope and the events.",
			"Add the webhook, and copy the secret that is shown. If it is not the one you entered here, change the secret.",
		},
		Protects: "The body, with the event’s own id in it, is signed; the webhook’s id and the time are not.",
		Key: KeyInfo{
			From:  "X-Webhook-Id, else the body’s event.id",
			Scope: "Every attempt of a webhook has the same id. Two subscriptions that hear of one event have two.",
		},
		Answer:  "Any 2xx within 5 seconds.",
		Retries: "Four times over about 20 minutes, after a timeout, a 5xx or a 429. Any other 4xx drops the webhook, and three that are dropped in a row disable the subscription for a day.",
		Notes: []string{
			"The test of the settings page comes as an event of the type pagey.ping.",
			"What is larger than 256 KB is never sent.",
		},
	},
	proof: macProof{header: "X-PagerDuty-Signature", pairs: &pairs{between: ",", inside: "=", label: "v1"}},
	events: reader{
		id:   firstOf(header("X-Webhook-Id"), field("event", "id")),
		key:  firstOf(alone(header("X-Webhook-Id")), prefixed("event", field("event", "id"))),
		kind: field("event", "event_type"),
	},
	sample: sample{
		header: map[string]string{"X-Webhook-Id": "{id}", "X-Webhook-Subscription": "PTEST00"},
		body:   `{"event":{"id":"01TEST{id}","event_type":"incident.triggered","resource_type":"incident","occurred_at":"{time}","agent":null,"client":null,"data":{"id":"PTEST01","type":"incident","number":2,"status":"triggered","title":"Sent from the test console","urgency":"high"}}}`,
	},
}
