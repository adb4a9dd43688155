package signature

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// macProof proves requests by an HMAC in a header, over text that is put
// together of the body and what stands around it. What is left out is the
// usual: SHA-256, in hex, over the body, alone in its header.
type macProof struct {
	// header holds the signature, prefix comes before it.
	header, prefix string
	algorithm      algorithm
	encoding       encoding
	// signed is what is signed; nil is the body.
	signed template
	// pairs is set when the header holds labelled values: "t=1,v1=ab".
	pairs *pairs
	// time is where the signed time stands.
	time signedTime
	// idHeader holds the id that is signed.
	idHeader string
	// key turns a stored secret into the key; nil uses its text.
	key func(secret []byte) []byte
}

// pairs says how a header parts its values, and which of them matter.
type pairs struct {
	between, inside string
	// label is that of signatures, timeLabel that of the time; "" for none.
	label, timeLabel string
}

// signedTime says where a time stands that is covered by the signature. The
// zero value is that there is none.
type signedTime struct {
	// header holds it, or field leads to it in the JSON of the body that is
	// signed.
	header string
	field  []string
	unit   timeUnit
}

func (t signedTime) none() bool { return t.header == "" && t.field == nil }

var bodyAlone = signs("{body}")

// withDefaults is the proof with what was left out.
func (p macProof) withDefaults() macProof {
	if p.algorithm.newHash == nil {
		p.algorithm = hashSHA256
	}
	if p.encoding.decode == nil {
		p.encoding = inHex
	}
	if p.signed == nil {
		p.signed = bodyAlone
	}
	if p.time.unit.parse == nil {
		p.time.unit = inSeconds
	}
	return p
}

func (p macProof) prove(r Request, settings Settings, secrets []Secret) (proof, error) {
	p = p.withDefaults()
	text, err := signatureHeader(r.Header, p.header)
	if err != nil {
		return proof{}, err
	}
	sent, list, err := p.sent(text)
	if err != nil {
		return proof{}, err
	}
	signed, at, err := p.text(r, list)
	if err != nil {
		return proof{}, err
	}
	secret, ok := matchHMAC(p.algorithm.newHash, p.keyed(secrets), signed, sent)
	if !ok {
		return proof{}, mismatch(p.header, secrets)
	}
	if p.time.field != nil {
		if at, err = timeField(r, p.time); err != nil {
			return proof{}, err
		}
	}
	found := proof{secret: secret}
	if !p.timed() {
		return found, nil
	}
	found.skew, err = checkTime(p.timeWhere(), at, r, settings)
	return found, err
}

// keyed are the secrets as keys.
func (p macProof) keyed(secrets []Secret) []Secret {
	if p.key == nil {
		return secrets
	}
	keys := make([]Secret, len(secrets))
	for i, s := range secrets {
		keys[i] = Secret{ID: s.ID, Value: p.key(s.Value)}
	}
	return keys
}

func (p macProof) timed() bool { return !p.time.none() || p.pairs != nil && p.pairs.timeLabel != "" }

// timeWhere names the header with the time; "" where it is in the body.
func (p macProof) timeWhere() string {
	if p.time.field != nil {
		return ""
	}
	return cmp.Or(p.time.header, p.header)
}

// sent reads the signatures, and the header's labelled values if it has them.
func (p macProof) sent(text string) ([][]byte, []labelled, error) {
	if p.pairs == nil {
		rest, ok := strings.CutPrefix(text, p.prefix)
		if !ok {
			return nil, nil, malformed(p.header, "The header "+p.header+" does not begin with "+p.prefix+" as it should.")
		}
		one, ok := p.encoding.decode(rest, p.algorithm.size)
		if !ok {
			return nil, nil, malformed(p.header, fmt.Sprintf("The header %s is not %s of the length that %s has.", p.header, p.encoding.name, p.algorithm.name))
		}
		return [][]byte{one}, nil, nil
	}
	list, err := splitLabelled(p.header, text, p.pairs.between, p.pairs.inside)
	if err != nil {
		return nil, nil, err
	}
	if p.pairs.timeLabel != "" {
		if _, _, err := p.pairTime(list); err != nil {
			return nil, nil, err
		}
	}
	sent, err := sentSignatures(p.header, list, map[string]version{p.pairs.label: {p.algorithm.size, p.encoding.decode}})
	return sent[p.pairs.label], list, err
}

// pairTime finds the one time of the header. Two would be ambiguous.
func (p macProof) pairTime(list []labelled) (string, time.Time, error) {
	text, count := "", 0
	for _, entry := range list {
		if entry.label == p.pairs.timeLabel {
			text = entry.value
			count++
		}
	}
	at, ok := p.time.unit.parse(text)
	if count != 1 || !ok {
		return "", time.Time{}, malformed(p.header, fmt.Sprintf("The header %s holds no usable time: one %s%s with %s.",
			p.header, p.pairs.timeLabel, p.pairs.inside, p.time.unit.words))
	}
	return text, at, nil
}

// text fills the template with what it asks for and returns the time in it. A
// time in the body is not yet looked at: nobody has proven the body.
func (p macProof) text(r Request, list []labelled) (signed [][]byte, at time.Time, err error) {
	values := map[string][]byte{holeBody: r.Body, holeURL: []byte(r.URL)}
	if p.idHeader != "" && p.signed.has(holeID) {
		id, err := signatureHeader(r.Header, p.idHeader)
		if err != nil {
			return nil, at, err
		}
		values[holeID] = []byte(id)
	}
	var text string
	switch {
	case p.pairs != nil && p.pairs.timeLabel != "":
		text, at, err = p.pairTime(list)
	case p.time.header != "":
		text, at, err = timeHeader(r.Header, p.time.header, p.time.unit)
	}
	if err != nil {
		return nil, at, err
	}
	values[holeTimestamp] = []byte(text)
	return p.signed.fill(values), at, nil
}

// timeField reads a time in the body.
func timeField(r Request, t signedTime) (time.Time, error) {
	at, ok := t.unit.parse(field(t.field...)(newInput(r)))
	if !ok {
		return time.Time{}, malformed("", fmt.Sprintf("The body’s %s holds no usable time: %s.", strings.Join(t.field, "."), t.unit.words))
	}
	return at, nil
}

func (p macProof) sign(r *Request, _ Settings, secret string) error {
	p = p.withDefaults()
	at := p.time.unit.format(r.Now)
	if p.time.header != "" {
		r.Header.Set(p.time.header, at)
	}
	values := map[string][]byte{holeBody: r.Body, holeURL: []byte(r.URL), holeTimestamp: []byte(at)}
	if p.idHeader != "" {
		if p.signed.has(holeID) && r.Header.Get(p.idHeader) == "" {
			r.Header.Set(p.idHeader, "test-"+strconv.FormatInt(r.Now.UnixNano(), 10))
		}
		values[holeID] = []byte(r.Header.Get(p.idHeader))
	}
	key := p.keyed([]Secret{{Value: []byte(secret)}})[0].Value
	text := p.prefix + p.encoding.encode(computeHMAC(p.algorithm.newHash, key, p.signed.fill(values)))
	if p.pairs != nil {
		text = p.pairs.label + p.pairs.inside + text
		if p.pairs.timeLabel != "" {
			text = p.pairs.timeLabel + p.pairs.inside + at + p.pairs.between + text
		}
	}
	r.Header.Set(p.header, text)
	return nil
}
