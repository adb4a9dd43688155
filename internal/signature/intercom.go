package signature

import "net/http"

// intercom verifies Intercom's notifications: HMAC-SHA1 over the body, keyed
// with the app's client secret as text, in X-Hub-Signature as "sha1=" and hex.
//
// The body's id is the notification's; delivery_attempts changes with each
// retry. Intercom asks for the address with HEAD, which is no event; its ping
// is one, of the type ping.
//
// Source: developers.intercom.com/docs/webhooks.
var intercom = &provider{
	info: Info{
		Kind: "intercom", Name: "Intercom", Summary: "HMAC-SHA1 over the body", Group: GroupWork,
		Words: "conversation support customer contact",
		Docs:  "https://developers.intercom.com/docs/webhooks",
		Secret: SecretInfo{
			Name: "Client secret", From: "In the Developer Hub, open the app: it is under “Basic information”.",
		},
		Methods: []string{http.MethodHead, http.MethodGet},
		Steps: []string{
			"In the Developer Hub, open the app, then Webhooks.",
			"Paste the ingest URL as the “Endpoint URL”, choose the topics, and save. Intercom sends a ping.",
		},
		Protects: "The body, with the notification’s id in it, is signed; the time is not.",
		Key:      KeyInfo{From: "the body’s id", Signed: true},
		Answer:   "Any 2xx within about 5 seconds. A 410 unsubscribes.",
		Retries:  "Once, after about a minute. Too many failures pause the deliveries, and suspend the app after about a week.",
	},
	proof: macProof{header: "X-Hub-Signature", prefix: "sha1=", algorithm: hashSHA1},
	greeting: func(r Request, _ Settings) (*Handshake, error) {
		if r.Method != http.MethodHead && r.Method != http.MethodGet {
			return nil, nil
		}
		return &Handshake{Answer: *plain(http.StatusOK), Detail: "Intercom asked whether the address is there."}, nil
	},
	events: reader{id: field("id"), kind: field("topic")},
	sample: sample{
		body: `{"type":"notification_event","app_id":"test","data":{"type":"notification_event_data","item":{"type":"conversation","id":"1295"}},"id":"notif_{id}","topic":"conversation.user.created","delivery_attempts":1,"created_at":{unix}}`,
	},
}
