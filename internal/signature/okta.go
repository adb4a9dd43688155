package signature

import (
	"encoding/json"
	"net/http"
)

// okta verifies Okta's event hooks. Nothing is signed: the Authorization header
// holds the authentication secret of the hook, all of it, whatever it looks
// like.
//
// A request is a list of events under data.events, each with a uuid; the eventId
// around them is new in every delivery.
//
// An address is checked once with an unsigned GET, whose
// X-Okta-Verification-Challenge is answered in JSON.
//
// Source: okta/okta-developer-docs, concepts/event-hooks.
var okta = &provider{
	info: Info{
		Kind: "okta", Name: "Okta", Summary: "Secret in a header", Group: GroupIdentity,
		Words: "login user sign-in sso event hook directory workforce",
		Docs:  "https://developer.okta.com/docs/concepts/event-hooks/",
		Secret: SecretInfo{
			Name: "Authentication secret", MadeUp: true,
			From: "Make up a long random text and enter the same one here and at Okta.",
		},
		BodyOpen: true, Bare: true, Batch: true,
		Methods: []string{http.MethodGet},
		Steps: []string{
			"In Okta’s Admin Console, open Workflow, then “Event Hooks”, and choose “Create Event Hook”.",
			"Paste the ingest URL as the “Endpoint URL”.",
			"Enter Authorization as the “Authentication field” and the same secret as the “Authentication secret”.",
			"Choose the events and continue, then verify. Okta sends a challenge, which Rowlock answers.",
		},
		Protects: "Nothing is signed. The secret shows who sends: the body, its ids and the time are open.",
		Key:      KeyInfo{From: "each event’s uuid"},
		Answer:   "An empty 200 or 204 within 3 seconds.",
		Retries:  "Once at most, and never after a 4xx. What was missed is in Okta’s System Log.",
		Notes: []string{
			"The whole header is compared: if the secret at Okta begins with Bearer, so does the one here.",
			"Okta does not promise any order. The field published in each event tells when it happened.",
		},
	},
	proof:    tokenProof{header: "Authorization"},
	greeting: oktaChallenge,
	events: reader{
		list: listAt("data", "events"),
		id:   field("uuid"),
		kind: field("eventType"),
	},
	accepted: func(Request) *Answer { return plain(http.StatusOK) },
	sample: sample{
		body: `{"eventType":"com.okta.event_hook","eventTypeVersion":"1.0","cloudEventsVersion":"0.1","contentType":"application/json","eventId":"{id}","eventTime":"{time}","source":"https://example.okta.com/api/v1/eventHooks/who0000test","data":{"events":[` +
			`{"uuid":"{id}-1","published":"{time}","eventType":"user.session.start","severity":"INFO","displayMessage":"User login to Okta"},` +
			`{"uuid":"{id}-2","published":"{time}","eventType":"user.session.end","severity":"INFO","displayMessage":"User logout from Okta"}]}}`,
	},
}

// oktaChallenge answers the check of an address. Every GET is one, or nothing.
func oktaChallenge(r Request, _ Settings) (*Handshake, error) {
	if r.Method != http.MethodGet {
		return nil, nil
	}
	const where = "X-Okta-Verification-Challenge"
	challenge, err := signatureHeader(r.Header, where)
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(map[string]string{"verification": challenge})
	if err != nil {
		return nil, malformed(where, "The header "+where+" cannot be answered.")
	}
	return &Handshake{
		Answer: Answer{Status: http.StatusOK, ContentType: "application/json", Body: string(body)},
		Detail: "Okta checked the address, and its challenge was answered.",
	}, nil
}
