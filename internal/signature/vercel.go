package signature

// vercel verifies Vercel's webhooks: HMAC-SHA1 over the body, keyed with the
// secret as text, as hex in X-Vercel-Signature. The event's id and type are in
// the body. Log drains use the same header, with a secret of their own.
//
// Source: vercel.com/docs/webhooks and "Webhooks API: Securing webhooks". That
// retries go on for a day is not taken from there.
var vercel = &provider{
	info: Info{
		Kind: "vercel", Name: "Vercel", Summary: "HMAC over the body", Group: GroupCode,
		Words: "deployment project build preview hosting",
		Docs:  "https://vercel.com/docs/webhooks",
		Secret: SecretInfo{
			Name: "Webhook secret", After: true,
			From: "Vercel shows it once, when the webhook is created. The webhook of an integration uses the integration’s client secret.",
		},
		Steps: []string{
			"At Vercel, choose the team, then Settings, then Webhooks. Pro and Enterprise teams have them.",
			"Choose the events and the projects, and paste the ingest URL as the endpoint.",
			"Create the webhook, and copy the secret that is shown. If it is not the one you entered here, change the secret.",
		},
		Protects: "The body, with the event’s id in it, is signed; the time is not.",
		Key:      KeyInfo{From: "the body’s id", Signed: true},
		Answer:   "Any 2xx within 30 seconds.",
		Retries:  "With growing waits for about 24 hours.",
		Notes:    []string{"A log drain signs with a secret of its own: make a source for each."},
	},
	proof:  macProof{header: "X-Vercel-Signature", algorithm: hashSHA1},
	events: reader{id: field("id"), kind: field("type")},
	sample: sample{body: `{"id":"{id}","type":"deployment.succeeded","createdAt":{ms},"region":"sfo1","payload":{"deployment":{"id":"dpl_test","name":"my-app","url":"my-app-git-main.vercel.app"}}}`},
}
