package signature

import (
	"encoding/json"
	"strings"
)

// anyHMAC verifies senders that sign with an HMAC and one header, whose
// details the source's settings give; hmacSettings lists them. The secret is
// used as text.
var anyHMAC = &provider{
	info: Info{
		Kind: "hmac", Name: "Any HMAC", Summary: "You pick header, hash", Group: GroupGeneric,
		Words:    "custom generic sha1 sha256 sha512 signature own",
		Secret:   SecretInfo{Name: "Shared secret", From: "The text that the sender signs with, used as it is."},
		Settings: hmacFields,
		Timed:    true, URLSigned: true,
		Steps: []string{
			"Open the sender’s settings for webhooks.",
			"Paste the ingest URL as the address to send to.",
			"Make sure that the sender signs with the same secret, and in the way that this source expects.",
		},
		Protects: protectsUnknown,
		Key:      KeyInfo{From: "the header that the settings name"},
		Answer:   "200 with the event’s id.",
	},
	plan: func(raw json.RawMessage) (plan, error) {
		chosen, err := planHMAC(raw)
		return plan{proof: chosen.proof, events: chosen.events(), protects: chosen.protects(), idHeader: chosen.IDHeader}, err
	},
	sample: sample{body: `{"id":"{id}","hello":"from the test console"}`},
}

const protectsUnknown = "What is signed depends on the settings."

// protects says what the template covers.
func (p hmacPlan) protects() string {
	signed, open := []string{"the body"}, []string(nil)
	for _, covered := range []struct{ hole, name string }{
		{holeID, "the event’s id"}, {holeTimestamp, "the time"}, {holeURL, "the address"},
	} {
		if p.proof.signed.has(covered.hole) {
			signed = append(signed, covered.name)
		} else if covered.hole != holeURL {
			open = append(open, covered.name)
		}
	}
	sentence := "Signed: " + strings.Join(signed, ", ")
	if len(open) > 0 {
		sentence += "; not signed: " + strings.Join(open, ", ")
	}
	return sentence + "."
}

// events are the headers that name the event, where the settings name them.
func (s hmacSettings) events() reader {
	var events reader
	if s.IDHeader != "" {
		events.id = header(s.IDHeader)
	}
	if s.TypeHeader != "" {
		events.kind = header(s.TypeHeader)
	}
	return events
}
