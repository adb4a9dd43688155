package signature

import "net/http"

// slack verifies what Slack sends: HMAC-SHA256 over "v0:{timestamp}:{body}",
// keyed with the signing secret as text (it looks like hex and is not decoded),
// in X-Slack-Signature as "v0=" and hex.
//
// The Events API sends JSON with an event_id that its retries repeat. Slash
// commands and interactions come as forms: a trigger_id is made for each, and
// the JSON of interactions stands in the field payload. Slack checks a new
// address with a signed url_verification, whose challenge is echoed.
//
// Source: docs.slack.dev, "Verifying requests from Slack" and "The Events API".
var slack = &provider{
	info: Info{
		Kind: "slack", Name: "Slack", Summary: "HMAC, time and body", Group: GroupMessaging,
		Words: "chat events api slash command interactivity bot app",
		Docs:  "https://docs.slack.dev/apis/events-api/",
		Secret: SecretInfo{
			Name: "Signing secret",
			From: "At api.slack.com/apps, open the app: it is under Basic Information, “App Credentials”.",
		},
		Timed: true,
		Steps: []string{
			"At api.slack.com/apps, open the app, then “Event Subscriptions”, and switch the events on.",
			"Paste the ingest URL as the “Request URL”. Slack sends a challenge at once, which Rowlock answers; the field shows “Verified”.",
			"Subscribe to the events and save. For commands and buttons, paste the same URL under “Slash Commands” and “Interactivity & Shortcuts”.",
		},
		Protects: "The body, with the event’s id in it, and the time are signed.",
		Key: KeyInfo{
			From: "the body’s event_id; of commands and interactions the trigger_id; of what has neither, the hash of the body", Signed: true,
		},
		Answer:  "Any 2xx within 3 seconds. Commands and interactions are answered with an empty body, which shows nothing to the person.",
		Retries: "Three times: at once, after a minute and after five, with the same event_id. An app that fails too often is switched off.",
	},
	proof: macProof{
		header: "X-Slack-Signature", prefix: "v0=", signed: signs("v0:", "{timestamp}", ":", "{body}"),
		time: signedTime{header: "X-Slack-Request-Timestamp"},
	},
	challenge: slackChallenge,
	events: reader{
		id:   field("event_id"),
		key:  firstOf(field("event_id"), formField("trigger_id"), inPayload(field("trigger_id")), hashed),
		kind: firstOf(field("event", "type"), field("type"), inPayload(field("type")), formField("command")),
	},
	accepted: slackAnswer,
	sample: sample{
		body: `{"type":"event_callback","team_id":"T0000TEST","api_app_id":"A0000TEST","event_id":"Ev{id}","event_time":{unix},"event":{"type":"app_mention","user":"U0000TEST","text":"Sent from the test console","ts":"{unix}.000100","channel":"C0000TEST"}}`,
	},
}

// inPayload looks into the JSON in the field payload of a form.
func inPayload(find finder) finder {
	return func(in *input) string {
		payload := formField("payload")(in)
		return find(in.part([]byte(payload)))
	}
}

func slackChallenge(in *input, _ Secret) *Handshake {
	if field("type")(in) != "url_verification" {
		return nil
	}
	return &Handshake{Answer: *text(http.StatusOK, field("challenge")(in)), Detail: "Slack checked the address, and its challenge was answered."}
}

// slackAnswer is empty for forms: a body would be shown to the person who
// typed the command.
func slackAnswer(r Request) *Answer {
	if isForm(r.Header) {
		return plain(http.StatusOK)
	}
	return nil
}
