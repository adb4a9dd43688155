package signature

import (
	"net/http"
	"time"
)

// twitch verifies Twitch's EventSub: HMAC-SHA256 over the message's id, the text
// of its timestamp and the body with nothing between, keyed with the secret of
// the subscription as text, in Twitch-Eventsub-Message-Signature as "sha256="
// and hex. The timestamp has nanoseconds, and is signed as it is written.
//
// The id is the same when a message is sent again. A new subscription is
// confirmed by a signed message whose challenge is echoed as text; that a
// subscription was revoked is an event like any other.
//
// Source: dev.twitch.tv/docs/eventsub/handling-webhook-events; helix's
// eventsub_test.go. The ten minutes are not taken from there.
var twitch = &provider{
	info: Info{
		Kind: "twitch", Name: "Twitch", Summary: "HMAC, id, time and body", Group: GroupMessaging,
		Words: "eventsub stream channel follow subscribe chat",
		Docs:  "https://dev.twitch.tv/docs/eventsub/handling-webhook-events/",
		Secret: SecretInfo{
			Name: "Subscription secret", MadeUp: true,
			From: "Make up 10 to 100 random ASCII characters, and give them as transport.secret when you subscribe. It is not the client secret of the app.",
		},
		Timed: true, Tolerance: twitchTolerance,
		Steps: []string{
			"Send POST to https://api.twitch.tv/helix/eventsub/subscriptions with the type, the version and the condition.",
			"In transport, give webhook as the method, the ingest URL as the callback, and the secret of this source.",
			"Twitch sends a challenge at once, which Rowlock answers, and the subscription becomes enabled.",
		},
		Protects: "The body, the message’s id and the time are signed; the type in the headers is not.",
		Key:      KeyInfo{From: "Twitch-Eventsub-Message-Id", Signed: true},
		Answer:   "Any 2xx within a few seconds.",
		Retries:  "Twitch sends again when it is not sure, with the same id. After too many failures it revokes the subscription.",
		Notes: []string{
			"A revoked subscription is told by an event whose subscription.status gives the reason; nothing comes after it until you subscribe again.",
			"The address has to be https on port 443.",
		},
	},
	proof: macProof{
		header: twitchPrefix + "Message-Signature", prefix: "sha256=",
		signed:   signs("{id}", "{timestamp}", "{body}"),
		idHeader: twitchPrefix + "Message-Id",
		time:     signedTime{header: twitchPrefix + "Message-Timestamp", unit: inRFC3339},
	},
	challenge: twitchChallenge,
	events: reader{
		id:   header(twitchPrefix + "Message-Id"),
		kind: firstOf(header(twitchPrefix+"Subscription-Type"), field("subscription", "type")),
	},
	sample: sample{
		header: map[string]string{
			twitchPrefix + "Message-Id": "{id}", twitchPrefix + "Message-Type": "notification",
			twitchPrefix + "Message-Retry": "0", twitchPrefix + "Subscription-Type": "channel.follow", twitchPrefix + "Subscription-Version": "2",
		},
		body: `{"subscription":{"id":"f1c2a387-161a-49f9-a165-0f21d7a4e1c4","status":"enabled","type":"channel.follow","version":"2","condition":{"broadcaster_user_id":"12826"},"transport":{"method":"webhook","callback":"https://example.com"},"created_at":"{time}","cost":0},"event":{"user_id":"1337","user_login":"awesome_user","broadcaster_user_id":"12826","followed_at":"{time}"}}`,
	},
}

const (
	twitchPrefix = "Twitch-Eventsub-"
	// twitchTolerance is what Twitch's guide has receivers allow.
	twitchTolerance = 10 * time.Minute
)

// twitchChallenge takes the word of a header, which is not signed, together
// with that of the body, which is.
func twitchChallenge(in *input, _ Secret) *Handshake {
	challenge := field("challenge")(in)
	if challenge == "" || header(twitchPrefix+"Message-Type")(in) != "webhook_callback_verification" {
		return nil
	}
	return &Handshake{Answer: *text(http.StatusOK, challenge), Detail: "Twitch checked the address for a new subscription, and its challenge was answered."}
}
