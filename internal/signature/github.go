package signature

// github verifies GitHub's webhooks: HMAC-SHA256 over the body, keyed with the
// secret as text, in X-Hub-Signature-256 as "sha256=" and hex. The SHA-1 that
// GitHub still sends beside it is never looked at: it would be a weaker way in.
//
// The event is named by X-GitHub-Event. Its id is X-GitHub-Delivery, which a
// redelivery repeats and which every hook that hears of the event gets the same
// of; neither is signed. The ping that GitHub sends to a new hook is an event
// of the type ping.
//
// Source: docs.github.com/webhooks, "Validating webhook deliveries" and
// "Handling failed webhook deliveries".
var github = &provider{
	info: Info{
		Kind: "github", Name: "GitHub", Summary: "HMAC over the body", Group: GroupCode,
		Words: "git repository organization push pull request actions",
		Docs:  "https://docs.github.com/en/webhooks",
		Secret: SecretInfo{
			Name: "Webhook secret", MadeUp: true,
			From: "Make up a long random text and enter the same one here and at GitHub, under “Secret”.",
		},
		Steps: []string{
			"At GitHub, open the repository’s or the organization’s Settings, then Webhooks, then “Add webhook”.",
			"Paste the ingest URL as the “Payload URL” and choose the content type application/json.",
			"Enter the same secret under “Secret”, choose the events, and save. GitHub sends a ping at once.",
		},
		Protects: "The body is signed; the delivery id, the event name and the time are not.",
		Key: KeyInfo{
			From:  "X-GitHub-Delivery",
			Scope: "Every webhook that hears of one event gets the same delivery id, and so does a redelivery by hand: repeats are known within this source only.",
		},
		Answer:  "Any 2xx within 10 seconds.",
		Retries: "None. GitHub sends again only when a person or an API call asks for it, with the same delivery id.",
	},
	proof: macProof{header: "X-Hub-Signature-256", prefix: "sha256="},
	events: reader{
		id:   header("X-GitHub-Delivery"),
		kind: header("X-GitHub-Event"),
	},
	sample: sample{
		header: map[string]string{"X-GitHub-Event": "push", "X-GitHub-Delivery": "{id}", "User-Agent": "GitHub-Hookshot/0000000"},
		body:   `{"ref":"refs/heads/main","repository":{"full_name":"octo/example"},"pusher":{"name":"octocat"},"commits":[]}`,
	},
}
