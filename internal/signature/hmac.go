package signature

import (
	"encoding/json"
	"net/http"
	"strings"
)

// genericHMAC verifies senders that sign with an HMAC and one header, whose
// details the source's settings give; hmacSettings lists them. The secret is
// used as text.
type genericHMAC struct{ provider }

var _ Scheme = (*genericHMAC)(nil)

var anyHMAC = &genericHMAC{provider{
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
	sample: sample{body: `{"id":"{id}","hello":"from the test console"}`},
}}

func (*genericHMAC) CheckSettings(raw json.RawMessage) error {
	_, err := planHMAC(raw)
	return err
}

func (*genericHMAC) Protects(raw json.RawMessage) string {
	plan, err := planHMAC(raw)
	if err != nil {
		return protectsUnknown
	}
	return plan.protects()
}

const protectsUnknown = "What is signed depends on the settings."

// protects says what the template covers.
func (plan hmacPlan) protects() string {
	signed, open := []string{"the body"}, []string(nil)
	for _, covered := range []struct{ hole, name string }{
		{holeID, "the event’s id"}, {holeTimestamp, "the time"}, {holeURL, "the address"},
	} {
		if plan.proof.signed.has(covered.hole) {
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

func (*genericHMAC) Verify(request Request, settings Settings, secrets []Secret) (Verified, error) {
	plan, err := planHMAC(settings.Raw)
	if err != nil {
		return Verified{}, unusable(err)
	}
	proven, err := plan.proof.prove(request, settings, secrets)
	if err != nil {
		return Verified{}, err
	}
	in := &input{Request: request, doc: request.Body}
	return Verified{Secret: proven.secret.ID, Skew: proven.skew, Events: plan.events().read(in)}, nil
}

func (*genericHMAC) Sign(r *Request, settings Settings, secret string) error {
	plan, err := planHMAC(settings.Raw)
	if err != nil {
		return err
	}
	nameSample(r, http.CanonicalHeaderKey(plan.IDHeader))
	return plan.proof.sign(r, settings, secret)
}

// nameSample gives a sample its id in the header where the settings look for it.
func nameSample(r *Request, header string) {
	if header != "" && r.Header.Get(header) == "" {
		r.Header.Set(header, "test-"+field("id")(&input{Request: *r, doc: r.Body}))
	}
}

// unusable refuses a request because of settings that were never checked, or
// by a version that knew more.
func unusable(err error) *Refusal {
	return &Refusal{Code: CodeMismatch, Detail: "This source’s settings cannot be used: " + err.Error() + "."}
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
