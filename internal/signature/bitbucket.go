package signature

// bitbucket verifies Bitbucket's webhooks: HMAC-SHA256 over the body, keyed with
// the secret as text, in X-Hub-Signature as "sha256=" and hex. The header’s name
// is that of a SHA-1 elsewhere; one is not taken.
//
// X-Request-UUID (X-Request-Id of Data Center) names the request and
// X-Event-Key its type; neither is signed.
//
// Source: support.atlassian.com/bitbucket-cloud/docs/manage-webhooks.
var bitbucket = &provider{
	info: Info{
		Kind: "bitbucket", Name: "Bitbucket", Summary: "HMAC over the body", Group: GroupCode,
		Words: "git push pull request repository atlassian",
		Docs:  "https://support.atlassian.com/bitbucket-cloud/docs/manage-webhooks/",
		Secret: SecretInfo{
			Name: "Secret", MadeUp: true, From: "Have Bitbucket generate one, or make up a long random text, and enter the same one here.",
		},
		Steps: []string{
			"At Bitbucket, open the repository’s or the workspace’s settings, then Webhooks, and choose “Add webhook”.",
			"Paste the ingest URL as the “URL” and enter the same “Secret” as here.",
			"Choose the triggers and save.",
		},
		Protects: "The body is signed; the request’s id, the event’s name and the time are not.",
		Key:      KeyInfo{From: "X-Request-UUID, or X-Request-Id of Data Center"},
		Answer:   "Any 2xx within 10 seconds.",
		Retries:  "After a 5xx up to twice more, at once. Payloads over 256 kB may not be sent at all.",
	},
	proof: macProof{header: "X-Hub-Signature", prefix: "sha256="},
	events: reader{
		id:   firstOf(header("X-Request-Uuid"), header("X-Request-Id")),
		kind: header("X-Event-Key"),
	},
	sample: sample{
		header: map[string]string{"X-Event-Key": "repo:push", "X-Request-UUID": "{id}", "X-Attempt-Number": "1"},
		body:   `{"push":{"changes":[{"forced":false,"new":{"type":"branch","name":"main"}}]},"repository":{"full_name":"team/repository"}}`,
	},
}
