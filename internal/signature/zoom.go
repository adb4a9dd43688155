package signature

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"
)

// zoom verifies Zoom's webhooks: HMAC-SHA256 over "v0:{timestamp}:{body}", keyed
// with the app's secret token as text, in X-Zm-Signature as "v0=" and hex. Zoom
// sets no window for the time; five minutes are usual.
//
// Events have no id. Each has an event_ts in milliseconds, so that equal bodies
// are one event told twice; the meeting and the time alone are not enough, since
// many people leave a meeting at once.
//
// An address is checked when it is saved and then every 72 hours by a signed
// endpoint.url_validation, which wants the HMAC of its plainToken.
//
// Source: developers.zoom.us/docs/api/webhooks, "Verify webhook events" and
// "Validate your webhook endpoint"; its changelog and its blog on delays.
var zoom = &provider{
	info: Info{
		Kind: "zoom", Name: "Zoom", Summary: "HMAC, time and body", Group: GroupMessaging,
		Words: "meeting webinar recording phone call video",
		Docs:  "https://developers.zoom.us/docs/api/webhooks/",
		Secret: SecretInfo{
			Name: "Secret token",
			From: "At marketplace.zoom.us, open the app, then Features, then Access: it is the “Secret Token”.",
		},
		Timed: true,
		Steps: []string{
			"At marketplace.zoom.us, choose Manage, open the app, then Features, then Access.",
			"Copy the “Secret Token” and save it as the secret of this source first: Zoom’s check needs it.",
			"Enable “Event Subscriptions”, add one, choose the event types, and paste the ingest URL as the “Event notification endpoint URL”.",
			"Choose Validate. Zoom sends a challenge, which Rowlock answers. Save.",
		},
		Protects: "The body and the time are signed.",
		Key: KeyInfo{
			From: "the body, which holds the time of the event (event_ts)", Signed: true,
			Scope: "Events have no id. Equal bodies are one event told twice.",
		},
		Answer:  "Any 2xx within 3 seconds.",
		Retries: "Three times: after 5, 20 and 60 minutes. A redirect counts as a failure.",
		Notes:   []string{"Zoom checks the address again every 72 hours. A source that is deleted or has another secret fails the check."},
	},
	proof: macProof{
		header: "X-Zm-Signature", prefix: "v0=", signed: signs("v0:", "{timestamp}", ":", "{body}"),
		time: signedTime{header: "X-Zm-Request-Timestamp"},
	},
	challenge: zoomValidation,
	events: reader{
		key:  all(field("event_ts"), hashed),
		kind: field("event"),
	},
	sample: sample{body: `{"event":"meeting.ended","event_ts":{ms},"payload":{"account_id":"AAAAAABBBB","object":{"id":"1234567890","uuid":"{id}","topic":"Sent from the test console"}}}`},
}

// maxZoomToken is the longest plainToken that is answered; Zoom's have 22
// characters.
const maxZoomToken = 128

// zoomValidation answers with an HMAC that is made with the secret itself, and
// so for tokens alone: what Zoom signs has colons in it, and a token has none.
func zoomValidation(in *input, secret Secret) *Handshake {
	token := textOf(in.value([]string{"payload", "plainToken"}))
	if field("event")(in) != "endpoint.url_validation" || !isZoomToken(token) {
		return nil
	}
	mac := inHex.encode(computeHMAC(sha256.New, secret.Value, [][]byte{[]byte(token)}))
	return &Handshake{
		Answer: Answer{
			Status: http.StatusOK, ContentType: "application/json",
			Body: fmt.Sprintf(`{"plainToken":"%s","encryptedToken":"%s"}`, token, mac),
		},
		Detail: "Zoom checked the address, and its token was answered.",
	}
}

func isZoomToken(text string) bool {
	return text != "" && len(text) <= maxZoomToken && !strings.ContainsFunc(text, func(r rune) bool {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		return !letter && !strings.ContainsRune("-_+/=.", r)
	})
}
