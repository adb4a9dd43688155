package signature

// paddle verifies Paddle Billing's notifications: HMAC-SHA256 over
// "{ts}:{body}", in Paddle-Signature as "ts=SECONDS;h1=HEX", with one h1 for
// each secret while one is rotated. The key is the secret as text.
//
// The body's event_id stays when a notification is replayed; its
// notification_id is another for each destination and each replay.
//
// Source: developer.paddle.com/webhooks/signature-verification.
var paddle = &provider{
	info: Info{
		Kind: "paddle", Name: "Paddle", Summary: "HMAC, time and body", Group: GroupPayments,
		Words: "payment subscription transaction billing tax",
		Docs:  "https://developer.paddle.com/webhooks/overview",
		Secret: SecretInfo{
			Name: "Secret key", After: true,
			From: "It begins with pdl_ntfset_. Paddle shows it in the menu of the notification destination, under “Edit destination”.",
		},
		Timed: true,
		Steps: []string{
			"At Paddle, open “Developer tools”, then Notifications, and choose “New destination”.",
			"Choose the type webhook, paste the ingest URL as the “URL”, choose the events, and save.",
			"Open “Edit destination” and copy the “Secret key”. If it is not the one you entered here, change the secret.",
		},
		Protects: "The body, with the event’s id in it, and the time are signed.",
		Key:      KeyInfo{From: "the body’s event_id", Signed: true, Scope: "A replay keeps the event id and gets a new notification id."},
		Answer:   "Any 2xx within 5 seconds.",
		Retries:  "Live: 60 times in three days, 20 of them in the first hour. Sandbox: three times in 15 minutes.",
	},
	proof: macProof{
		header: "Paddle-Signature", signed: signs("{timestamp}", ":", "{body}"),
		pairs: &pairs{between: ";", inside: "=", label: "h1", timeLabel: "ts"},
	},
	events: reader{id: field("event_id"), kind: field("event_type")},
	sample: sample{
		body: `{"event_id":"evt_{id}","event_type":"transaction.completed","occurred_at":"{time}","notification_id":"ntf_{id}","data":{"id":"txn_test","status":"completed","currency_code":"EUR"}}`,
	},
}
