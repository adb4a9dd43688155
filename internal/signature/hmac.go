package signature

import (
	"encoding/json"
	"strings"
	"time"
)

// genericHMAC verifies senders that sign with an HMAC and one header, whose
// details the source's settings give; hmacSettings lists them. The secret is
// used as text.
type genericHMAC struct{}

var _ Scheme = genericHMAC{}

func (genericHMAC) Kind() string { return "hmac" }

func (genericHMAC) NeedsSecret() bool { return true }

func (genericHMAC) CheckSecret(pasted string) (string, error) { return checkText(pasted) }

func (genericHMAC) CheckSettings(raw json.RawMessage) error {
	_, err := planHMAC(raw)
	return err
}

func (genericHMAC) SecretHeaders() []string { return nil }

func (genericHMAC) Protects(raw json.RawMessage) string {
	plan, err := planHMAC(raw)
	if err != nil {
		return "What is signed depends on the settings."
	}
	signed, open := []string{"the body"}, []string(nil)
	for _, covered := range []struct{ hole, name string }{
		{holeID, "the event's id"}, {holeTimestamp, "the time"}, {holeURL, "the address"},
	} {
		if plan.signed.has(covered.hole) {
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

func (genericHMAC) Verify(request Request, settings Settings, secrets []Secret) (Verified, error) {
	plan, err := planHMAC(settings.Raw)
	if err != nil {
		return Verified{}, &Refusal{Code: CodeMismatch, Detail: "This source's settings cannot be used: " + err.Error()}
	}
	sent, err := plan.sent(request)
	if err != nil {
		return Verified{}, err
	}
	signed, signedAt, err := plan.text(request)
	if err != nil {
		return Verified{}, err
	}
	secret, ok := matchHMAC(plan.algorithm.newHash, secrets, signed, [][]byte{sent})
	if !ok {
		return Verified{}, mismatch(plan.Header, secrets)
	}
	verified := Verified{Secret: secret, Events: []Identity{plan.event(request)}}
	if plan.signed.has(holeTimestamp) {
		verified.Skew, err = checkTime(plan.TimestampHeader, signedAt, request, settings)
	}
	if err != nil {
		return Verified{}, err
	}
	return verified, nil
}

// sent reads the signature.
func (p hmacPlan) sent(request Request) ([]byte, error) {
	header, err := signatureHeader(request.Header, p.Header)
	if err != nil {
		return nil, err
	}
	text, ok := strings.CutPrefix(header, p.Prefix)
	if !ok {
		return nil, malformed(p.Header, "The header "+p.Header+" does not begin with the prefix of the settings.")
	}
	sent, ok := p.decode(text, p.algorithm.size)
	if !ok {
		return nil, malformed(p.Header, "The header "+p.Header+" is not "+p.Encoding+" of the length that "+p.Algorithm+" has.")
	}
	return sent, nil
}

// text fills the template with what it asks for and returns the time in it.
func (p hmacPlan) text(request Request) ([][]byte, time.Time, error) {
	values := map[string][]byte{holeBody: request.Body, holeURL: []byte(request.URL)}
	if p.signed.has(holeID) {
		id, err := signatureHeader(request.Header, p.IDHeader)
		if err != nil {
			return nil, time.Time{}, err
		}
		values[holeID] = []byte(id)
	}
	var signedAt time.Time
	if p.signed.has(holeTimestamp) {
		text, at, err := timeHeader(request.Header, p.TimestampHeader)
		if err != nil {
			return nil, time.Time{}, err
		}
		values[holeTimestamp], signedAt = []byte(text), at
	}
	return p.signed.fill(values), signedAt, nil
}

// event reads the headers that name the event, where the settings name them.
func (p hmacPlan) event(request Request) Identity {
	var event Identity
	if p.IDHeader != "" {
		event.Key = identityHeader(request.Header, p.IDHeader)
	}
	if p.TypeHeader != "" {
		event.Type = eventType(identityHeader(request.Header, p.TypeHeader))
	}
	return event
}
