package signature

import "time"

// linear verifies Linear's webhooks: HMAC-SHA256 over the body, keyed with the
// signing secret as text, in Linear-Signature as hex. The body's
// webhookTimestamp, milliseconds, is to be within a minute.
//
// Linear-Delivery names the delivery and Linear-Event its type; neither is
// signed.
//
// Source: linear.app/developers/webhooks, "Securing webhooks".
var linear = &provider{
	info: Info{
		Kind: "linear", Name: "Linear", Summary: "HMAC over the body, with a time", Group: GroupCode,
		Words: "issue comment project cycle tracker",
		Docs:  "https://linear.app/developers/webhooks",
		Secret: SecretInfo{
			Name: "Signing secret", After: true,
			From: "It begins with lin_wh_ and is shown on the webhook’s page at Linear.",
		},
		Timed: true, Tolerance: time.Minute,
		Steps: []string{
			"At Linear, open Settings, then API, then Webhooks, and choose “New webhook”.",
			"Paste the ingest URL as the “URL”, choose the resources, and save.",
			"Copy the “Signing secret” of the new webhook. If it is not the one you entered here, change the secret.",
		},
		Protects: "The body and the time in it are signed; the delivery id and the event name are not.",
		Key:      KeyInfo{From: "Linear-Delivery"},
		Answer:   "Exactly 200 within 5 seconds.",
		Retries:  "After 1 minute, 1 hour and 6 hours. A webhook that keeps failing may be disabled.",
		Notes:    []string{"A retry may carry the time of the first try. If retries are refused for their time, widen the tolerance."},
	},
	proof: macProof{header: "Linear-Signature", time: signedTime{field: []string{"webhookTimestamp"}, unit: inMillis}},
	events: reader{
		id:   header("Linear-Delivery"),
		kind: header("Linear-Event"),
	},
	sample: sample{
		header: map[string]string{"Linear-Delivery": "{id}", "Linear-Event": "Issue"},
		body:   `{"action":"create","type":"Issue","createdAt":"{time}","data":{"id":"2174add1-f7c8-44e3-bbf3-2d60b5ea8bc9","title":"Sent from the test console"},"webhookTimestamp":{ms}}`,
	},
}
