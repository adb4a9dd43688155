package signature

import (
	"net/http"
	"net/url"
)

// dropbox verifies Dropbox's notifications: HMAC-SHA256 over the body, keyed
// with the app's secret as text, in X-Dropbox-Signature as bare hex.
//
// A notification says which accounts changed and nothing else, so that two
// changes are told in the same bytes: nothing tells a repeat from them, and
// each request is an event.
//
// Dropbox checks a new address with a GET, whose challenge is echoed.
//
// Source: dropbox.com/developers/reference/webhooks.
var dropbox = &provider{
	info: Info{
		Kind: "dropbox", Name: "Dropbox", Summary: "HMAC over the body", Group: GroupWork,
		Words: "file folder storage",
		Docs:  "https://www.dropbox.com/developers/reference/webhooks",
		Secret: SecretInfo{
			Name: "App secret", From: "In the App Console, open the app: it is under Settings.",
		},
		Methods: []string{http.MethodGet},
		Steps: []string{
			"In the App Console, open the app, then Settings, then Webhooks.",
			"Paste the ingest URL under “Webhook URIs” and choose “Add”. Dropbox sends a challenge at once, which Rowlock answers.",
		},
		Protects: "The body is signed; the time is not.",
		Key: KeyInfo{
			From:  "nothing: every request is an event",
			Scope: "Two real changes are told in the same bytes, so that a repeat cannot be known.",
		},
		Answer:  "200 within 10 seconds.",
		Retries: "With growing waits for about ten minutes. An app that fails too often is disabled.",
	},
	proof:    macProof{header: "X-Dropbox-Signature"},
	greeting: dropboxChallenge,
	sample:   sample{body: `{"list_folder":{"accounts":["dbid:{id}"]},"delta":{"users":[12345678]}}`},
}

func dropboxChallenge(r Request, _ Settings) (*Handshake, error) {
	if r.Method != http.MethodGet {
		return nil, nil
	}
	query, err := url.ParseQuery(r.Query)
	if err != nil || len(query["challenge"]) != 1 {
		return nil, malformed("", "A GET of this address is a challenge, and this one has none.")
	}
	return &Handshake{Answer: *text(http.StatusOK, query.Get("challenge")), Detail: "Dropbox checked the address, and its challenge was answered."}, nil
}
