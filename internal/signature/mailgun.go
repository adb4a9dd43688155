package signature

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/url"
	"strconv"
)

// mailgun verifies Mailgun's webhooks: HMAC-SHA256, keyed with the signing key
// as text, over a time in seconds and a token with nothing between. The three
// stand in the body: as the object "signature" of JSON, or as fields of the
// forms that routes send. What the event says is not covered, so that a token is
// taken for one event only.
//
// An event's id is unique within a day, and its time makes it so for good. A
// route sends a mail once for each of its recipients, always with the mail's own
// id.
//
// Source: documentation.mailgun.com, "Securing webhooks"; mailgun-go's
// webhooks_test.go.
var mailgun = &provider{
	info: Info{
		Kind: "mailgun", Name: "Mailgun", Summary: "HMAC over time and token", Group: GroupMessaging,
		Words: "mail email bounce delivered route inbound",
		Docs:  "https://documentation.mailgun.com/docs/mailgun/user-manual/webhooks/webhooks",
		Secret: SecretInfo{
			Name: "HTTP webhook signing key", From: "In the Control Panel, under “API Security”. It is not the API key.",
		},
		Timed: true, BodyOpen: true,
		Steps: []string{
			"In the Control Panel, open Sending, then Webhooks, and choose the domain.",
			"Choose “Add webhook”, the event type, and paste the ingest URL.",
			"For inbound mail, paste the ingest URL into the action “Forward” of a route under Receiving.",
		},
		Protects: "A time and a token are signed; the event itself is not. A token is taken for one event only.",
		Key: KeyInfo{
			From:  "the body’s event-data.id and event-data.timestamp together; of routes the Message-Id and the recipient",
			Scope: "Mailgun’s ids are unique within a day only. What has one of the two alone has no key.",
		},
		Answer:  "200; 406 makes Mailgun give up.",
		Retries: "After 5, 10 and 15 minutes, and 1, 2 and 4 hours.",
		Notes:   []string{"A retry may carry the time of the first try. If retries are refused for their time, widen the tolerance."},
	},
	proof: mailgunProof{},
	events: reader{
		id: firstOf(field("event-data", "id"), mailgunField("Message-Id")),
		key: firstOf(
			all(field("event-data", "id"), number("event-data", "timestamp")),
			all(mailgunField("Message-Id"), mailgunField("recipient")),
		),
		kind: field("event-data", "event"),
	},
	sample: sample{
		body: `{"signature":{"timestamp":"{unix}","token":"{id}","signature":""},"event-data":{"event":"delivered","id":"{id}","timestamp":{unix},"recipient":"someone@example.com"}}`,
	},
}

// mailgunSigned are the three values.
type mailgunSigned struct{ timestamp, token, signature string }

// maxMailgunField bounds a value of a form's part, in bytes.
const maxMailgunField = 1024

// mailgunRead finds the values where the body's kind has them.
func mailgunRead(r Request) mailgunSigned {
	in := &input{Request: r, doc: r.Body}
	if isForm(r.Header) {
		return mailgunSigned{formField("timestamp")(in), formField("token")(in), formField("signature")(in)}
	}
	if parts, ok := multipartFields(r, "timestamp", "token", "signature"); ok {
		return mailgunSigned{parts["timestamp"], parts["token"], parts["signature"]}
	}
	return mailgunSigned{field("signature", "timestamp")(in), field("signature", "token")(in), field("signature", "signature")(in)}
}

// mailgunField finds a field of the form that a route sends, in either form.
func mailgunField(name string) finder {
	return func(in *input) string {
		if value := formField(name)(in); value != "" {
			return value
		}
		parts, _ := multipartFields(in.Request, name)
		return parts[name]
	}
}

// multipartFields reads short fields of a form in parts; a field that comes
// twice is none.
func multipartFields(r Request, names ...string) (map[string]string, bool) {
	media, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || media != "multipart/form-data" || params["boundary"] == "" {
		return nil, false
	}
	fields, count := map[string]string{}, map[string]int{}
	reader := multipart.NewReader(bytes.NewReader(r.Body), params["boundary"])
	for {
		part, err := reader.NextRawPart()
		if err != nil {
			break // its end, or where it cannot be read any further
		}
		name := part.FormName()
		value, err := io.ReadAll(io.LimitReader(part, maxMailgunField+1))
		if err == nil && part.FileName() == "" && len(value) <= maxMailgunField {
			fields[name] = string(value)
			count[name]++
		}
	}
	found := map[string]string{}
	for _, name := range names {
		if count[name] == 1 {
			found[name] = fields[name]
		}
	}
	return found, true
}

type mailgunProof struct{}

func (mailgunProof) prove(r Request, settings Settings, secrets []Secret) (proof, error) {
	got := mailgunRead(r)
	if got.signature == "" || got.token == "" {
		return proof{}, &Refusal{Code: CodeMissing, Detail: "The body has no signature with timestamp, token and signature."}
	}
	at, ok := inSeconds.parse(got.timestamp)
	if !ok {
		return proof{}, malformed("", "The body’s signature holds no usable time: "+inSeconds.words+".")
	}
	sent, ok := decodeHex(got.signature, sha256.Size)
	if !ok {
		return proof{}, malformed("", "The body’s signature is not hex of the length that sha256 has.")
	}
	secret, ok := matchHMAC(sha256.New, secrets, [][]byte{[]byte(got.timestamp), []byte(got.token)}, [][]byte{sent})
	if !ok {
		return proof{}, mismatch("", secrets)
	}
	skew, err := checkTime("", at, r, settings)
	return proof{secret: secret, skew: skew, once: got.token}, err
}

var errMailgunBody = errors.New("the body has no place for a signature: JSON with an object “signature”, or a form")

// sign writes the present time and the signature into the body.
func (mailgunProof) sign(r *Request, _ Settings, secret string) error {
	got := mailgunRead(*r)
	at, token := inSeconds.format(r.Now), got.token
	if token == "" {
		token = strconv.FormatInt(r.Now.UnixNano(), 36)
	}
	mac := inHex.encode(computeHMAC(sha256.New, []byte(secret), [][]byte{[]byte(at), []byte(token)}))
	switch {
	case isForm(r.Header):
		form := readForm(r.Body)
		form.Set("timestamp", at)
		form.Set("token", token)
		form.Set("signature", mac)
		r.Body = []byte(url.Values(form).Encode())
		return nil
	case got.signature != "" && !bytes.HasPrefix(bytes.TrimSpace(r.Body), []byte("{")):
		r.Body = bytes.Replace(r.Body, []byte(got.timestamp), []byte(at), 1)
		r.Body = bytes.Replace(r.Body, []byte(got.signature), []byte(mac), 1)
		return nil
	}
	start, end, ok := memberOf(r.Body, 0, len(r.Body), "signature")
	if !ok {
		return errMailgunBody
	}
	signed := fmt.Sprintf(`{"timestamp":%q,"token":%q,"signature":%q}`, at, token, mac)
	r.Body = append(append(bytes.Clone(r.Body[:start]), signed...), r.Body[end:]...)
	return nil
}
