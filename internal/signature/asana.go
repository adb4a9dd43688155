package signature

import "net/http"

// asana verifies Asana's webhooks: HMAC-SHA256 over the body, keyed with the
// hook's secret as text (it looks like hex and is not decoded), in
// X-Hook-Signature as bare hex.
//
// Asana makes the secret and sends it in X-Hook-Secret, unsigned and without a
// body, while the webhook is being created; the answer has to repeat it. Each
// webhook has its own, also when several share an address.
//
// A request is a list of events without ids; an empty list is a heartbeat.
//
// Source: developers.asana.com/docs/webhooks-guide.
var asana = &provider{
	info: Info{
		Kind: "asana", Name: "Asana", Summary: "HMAC over the body", Group: GroupWork,
		Words: "task project story portfolio",
		Docs:  "https://developers.asana.com/docs/webhooks-guide",
		Secret: SecretInfo{
			Name: "Hook secret", Captured: true,
			From: "Asana sends it to the ingest URL when the webhook is created. Leave this empty to have it taken from there.",
		},
		SecretHeaders: []string{asanaHandshake},
		Batch:         true,
		Steps: []string{
			"Asana’s webhooks are made with its API: POST /webhooks with the resource and the ingest URL as “target”.",
			"Asana sends the secret to the URL during that call, and Rowlock answers.",
			"To add another webhook on the same URL, choose “Take the next secret” on this source’s page first.",
		},
		Protects: "The body is signed; the time is not.",
		Key:      KeyInfo{From: "the hash of each event: Asana gives them no id", Signed: true},
		Answer:   "200 or 204 within 10 seconds.",
		Retries:  "For up to 24 hours, after which the webhook is deleted. A 410 deletes it at once.",
		Notes:    []string{"An empty list is a heartbeat, which comes about every eight hours and is no event."},
	},
	proof:    macProof{header: "X-Hook-Signature"},
	greeting: asanaSecret,
	events: reader{
		list: listAt("events"),
		key:  hashed,
		kind: dotted(field("resource", "resource_type"), field("action")),
	},
	sample: sample{
		body: `{"events":[{"user":{"gid":"12345","resource_type":"user"},"created_at":"{time}","action":"changed","resource":{"gid":"{id}","resource_type":"task"},"parent":null,"change":{"field":"due_at","action":"changed"}}]}`,
	},
}

const asanaHandshake = "X-Hook-Secret"

// asanaSecret takes the secret that comes before the first event.
func asanaSecret(r Request, _ Settings) (*Handshake, error) {
	secret := identityHeader(r.Header, asanaHandshake)
	if secret == "" || len(r.Body) > 0 {
		return nil, nil
	}
	return &Handshake{
		Answer: Answer{Status: http.StatusOK, Header: map[string]string{asanaHandshake: secret}},
		Detail: "Asana sent the secret of a webhook.", Secret: secret,
	}, nil
}
