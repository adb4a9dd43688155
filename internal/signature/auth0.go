package signature

// auth0 takes Auth0's log streams: the value of the header Authorization is what
// was entered at Auth0, and is all that proves a request.
//
// A request is a list of log events, each with a log_id. With the format JSON
// Lines it is no list, and is taken as one event.
//
// Source: auth0.com/docs/customize/log-streams/custom-log-streams.
var auth0 = &provider{
	info: Info{
		Kind: "auth0", Name: "Auth0", Summary: "A token in a header", Group: GroupIdentity,
		Words: "log stream login user okta",
		Docs:  "https://auth0.com/docs/customize/log-streams/custom-log-streams",
		Secret: SecretInfo{
			Name: "Authorization token", MadeUp: true,
			From: "Make up a long random text and enter the same one here and at Auth0, “Bearer” included if you put it before.",
		},
		BodyOpen: true, Bare: true, Batch: true,
		Steps: []string{
			"In Auth0’s Dashboard, open Monitoring, then Streams, and create a stream of the type “Custom Webhook”.",
			"Paste the ingest URL as the “Payload URL” and choose the content format “JSON Array”.",
			"Enter the same “Authorization Token” as here, and save.",
		},
		Protects: "Nothing is signed: whoever has the token can send anything.",
		Key:      KeyInfo{From: "each event’s log_id"},
		Answer:   "Any 2xx.",
		Retries:  "With growing waits; a stream that keeps failing is paused.",
	},
	proof: tokenProof{header: "Authorization"},
	events: reader{
		list: listAt(),
		id:   field("log_id"),
		kind: field("data", "type"),
	},
	sample: sample{body: `[{"log_id":"{id}","data":{"date":"{time}","type":"s","client_id":"test","user_id":"auth0|1"}}]`},
}
