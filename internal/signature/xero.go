package signature

import "net/http"

// xero verifies Xero's webhooks: HMAC-SHA256 over the body, keyed with the
// webhooks key as text (it looks like base64 and is not decoded), as base64 in
// X-Xero-Signature.
//
// A request is a list of events without ids. What happened to which object, and
// when, tells repeats: the entropy beside the list makes every body new.
//
// An address is checked by requests with an empty list, the "intent to
// receive": some are signed well and want an empty 200, some wrongly and want a
// 401, all within five seconds. A body or a cookie fails the check.
//
// Source: developer.xero.com/documentation/guides/webhooks, "Configuring your
// server" and "Overview".
var xero = &provider{
	info: Info{
		Kind: "xero", Name: "Xero", Summary: "HMAC over the body", Group: GroupPayments,
		Words: "accounting invoice contact bookkeeping",
		Docs:  "https://developer.xero.com/documentation/guides/webhooks/overview/",
		Secret: SecretInfo{
			Name: "Webhooks key", After: true,
			From: "Xero shows it on the app’s Webhooks page once the delivery URL is saved.",
		},
		Batch: true,
		Steps: []string{
			"At developer.xero.com, open “My Apps”, then the app, then Webhooks.",
			"Choose the events, paste the ingest URL as the “Delivery URL”, and save.",
			"Copy the “Webhooks key”. If it is not the one you entered here, change the secret.",
			"Choose “Send ‘Intent to receive’”. Xero sends requests that are right and some that are wrong, and the status becomes OK: a few refused requests here are part of it.",
		},
		Protects: "The body, with what its events are known by, is signed; the time of sending is not.",
		Key: KeyInfo{
			From: "each event’s tenantId, resourceId, eventType and eventDateUtc", Signed: true,
			Scope: "Events have no id. A change of one object at one time is taken once.",
		},
		Answer:  "An empty 200 within 5 seconds, and 401 for a wrong signature.",
		Retries: "Ever less often for 24 hours; then the webhook is disabled.",
		Notes:   []string{"An event says what has changed, and not how: the receiver asks Xero at the event’s resourceUrl."},
	},
	proof:     macProof{header: "X-Xero-Signature", encoding: inBase64},
	challenge: xeroIntent,
	events: reader{
		list: listAt(xeroList),
		key:  all(field("tenantId"), field("resourceId"), field("eventType"), field("eventDateUtc")),
		kind: xeroType,
	},
	accepted: func(Request) *Answer { return plain(http.StatusOK) },
	sample: sample{
		body: `{"events":[{"resourceUrl":"https://api.xero.com/api.xro/2.0/Contacts/{id}","resourceId":"{id}","eventDateUtc":"{time}","eventType":"UPDATE","eventCategory":"CONTACT","tenantId":"c2cc9b6e-9458-4c7d-93cc-f02b81b0594f","tenantType":"ORGANISATION"}],"firstEventSequence":1,"lastEventSequence":1,"entropy":"S0m3r4Nd0mt3xt"}`,
	},
}

const xeroList = "events"

func xeroIntent(in *input, _ Secret) *Handshake {
	parts, ok := splitList(in.Body, []string{xeroList})
	if !ok || len(parts.elements) > 0 {
		return nil
	}
	return &Handshake{Answer: *plain(http.StatusOK), Detail: "Xero checked the address (intent to receive), and was answered."}
}

// xeroType is what has changed and how: "CONTACT.UPDATE".
func xeroType(in *input) string {
	category, change := field("eventCategory")(in), field("eventType")(in)
	if category == "" || change == "" {
		return category
	}
	return category + "." + change
}
