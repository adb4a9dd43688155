package signature

import "errors"

// none takes requests as they come. It is a kind of its own, so that an
// unsigned source is somebody's choice and never a setting left empty.
var none = &provider{
	info: Info{
		Kind: "none", Name: "No signature", Summary: "The URL is the secret", Group: GroupGeneric,
		Words: "unsigned plain test", BodyOpen: true,
		Steps: []string{
			"Open the sender’s settings for webhooks.",
			"Paste the ingest URL as the address to send to, and keep it to yourself: it is all that protects this source.",
		},
		Protects: "Nothing is signed: whoever knows the address can send events.",
		Key:      KeyInfo{From: "nothing: every request is a new event, unless a rule names a key"},
		Answer:   "200 with the event’s id.",
	},
	secret: func(pasted string) (string, error) {
		if trimPasted(pasted) != "" {
			return "", errSecretUnused
		}
		return "", nil
	},
	proof:  noProof{},
	sample: sample{body: `{"id":"{id}","hello":"from the test console"}`},
}

var errSecretUnused = errors.New("an unsigned source has no secret; choose another kind to have requests verified")

// noProof takes every request.
type noProof struct{}

func (noProof) prove(Request, Settings, []Secret) (proof, error) { return proof{}, nil }

func (noProof) sign(*Request, Settings, string) error { return nil }
