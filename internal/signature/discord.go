package signature

import (
	"net/http"
	"time"
)

// discord verifies what Discord sends to an application: Ed25519 over timestamp
// and body with nothing between, in X-Signature-Ed25519 as hex. The key is the
// application's public key, in hex. With nothing between them, digits could go
// over from the time to the body: a time has exactly ten.
//
// Webhook events have no id; interactions do. Discord checks an address with
// pings, some of them wrongly signed on purpose, which have to be refused.
//
// Source: docs.discord.com/developers/events/webhook-events; discordgo's
// interactions_test.go.
var discord = &provider{
	info: Info{
		Kind: "discord", Name: "Discord", Summary: "Ed25519, time and body", Group: GroupMessaging,
		Words: "chat bot application interaction",
		Docs:  "https://docs.discord.com/developers/events/webhook-events",
		Secret: SecretInfo{
			Name: "Public key", Public: true,
			From: "In the Developer Portal, open the application: it is under “General Information”.",
		},
		Timed: true,
		Steps: []string{
			"In the Developer Portal, open the application, then Webhooks.",
			"Paste the ingest URL as the “Endpoint” and save. Discord sends pings at once, which Rowlock answers.",
			"Switch the events on, and choose them.",
		},
		Protects: "The body and the time are signed.",
		Key: KeyInfo{
			From: "an interaction’s id; of webhook events, which have none, the hash of the body", Signed: true,
		},
		Answer:  "204 within 3 seconds, and 401 for what is wrongly signed.",
		Retries: "Webhook events with growing waits for some minutes; interactions never.",
		Notes: []string{
			"An interaction wants its answer at once, which a gateway cannot give: use this source for webhook events.",
			"Discord does not say how old the time of a retry may be. If retries are refused for their time, widen the tolerance.",
		},
	},
	secret:    discordProof.checkKey,
	proof:     discordProof,
	challenge: discordPing,
	events: reader{
		id:   discordID,
		key:  firstOf(discordID, hashed),
		kind: firstOf(field("event", "type"), field("type")),
	},
	accepted: func(Request) *Answer { return plain(http.StatusNoContent) },
	sample: sample{
		body: `{"version":1,"application_id":"1234560123453231555","type":1,"event":{"type":"APPLICATION_AUTHORIZED","timestamp":"{time}","data":{"integration_type":1,"scopes":["applications.commands"],"user":{"id":"123456789012345678","username":"{id}"}}}}`,
	},
}

var (
	discordProof = publicProof{
		header: "X-Signature-Ed25519", encoding: inHex, scheme: schemeEd25519, key: keyHex,
		signed: signs("{timestamp}", "{body}"), timeHeader: "X-Signature-Timestamp", unit: discordTime,
	}
	discordID   = field("id")
	discordTime = timeUnit{"ten digits, the seconds since 1970", parseTenDigits, inSeconds.format}
)

func parseTenDigits(text string) (time.Time, bool) {
	at, ok := parseUnix(text)
	return at, ok && len(text) == 10
}

// discordPing answers the two kinds of ping: that of interactions in JSON, that
// of webhook events with nothing.
func discordPing(in *input, _ Secret) *Handshake {
	if in.value([]string{"event"}) != nil {
		return nil
	}
	const detail = "Discord checked the address, and its ping was answered."
	switch field("type")(in) {
	case "0":
		return &Handshake{Answer: *plain(http.StatusNoContent), Detail: detail}
	case "1":
		return &Handshake{Answer: Answer{Status: http.StatusOK, ContentType: "application/json", Body: `{"type":1}`}, Detail: detail}
	default:
		return nil
	}
}
