package signature

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// twilio verifies Twilio's webhooks: HMAC-SHA1, keyed with the account's auth
// token as text, in X-Twilio-Signature as base64. What is signed is the address
// with its query and, for a form, each name and value one after the other,
// sorted by name. For any other body the address carries bodySHA256, the hash
// of the body in hex, and is signed alone; without it the body would be open.
//
// Twilio signs the address with or without the port, as its parts see it, so
// that both are tried.
//
// I-Twilio-Idempotency-Token names a delivery over its retries; it is not
// signed, and not always there. A status is told once for each message. A call
// has one status through many requests, one for each step of its TwiML: only a
// sequence number tells them apart. Event Streams sends lists of CloudEvents,
// each with its own id.
//
// Source: twilio.com/docs/usage/security, "Validating requests"; twilio-go's
// client/request_validator_test.go.
var twilio = &provider{
	info: Info{
		Kind: "twilio", Name: "Twilio", Summary: "HMAC, address and form", Group: GroupMessaging,
		Words: "sms call voice whatsapp message phone status",
		Docs:  "https://www.twilio.com/docs/usage/webhooks",
		Secret: SecretInfo{
			Name: "Auth token",
			From: "In the Twilio Console, on the account’s dashboard, under “Account Info”. While a secondary token is promoted, keep both.",
		},
		URLSigned: true, Batch: true, Methods: []string{http.MethodGet},
		Steps: []string{
			"In the Twilio Console, open the phone number, the messaging service, or wherever the webhook belongs.",
			"Paste the ingest URL, exactly as it is shown, where a message or call “comes in”, or as the “Status callback URL”.",
			"Choose HTTP POST, and save.",
		},
		Protects: "The address and the fields of the form are signed; the idempotency token and the time are not.",
		Key: KeyInfo{
			From:  "I-Twilio-Idempotency-Token; without it the message’s id with its status, or the call’s with status and sequence number; in a list each event’s id",
			Scope: "The ids in the body are signed, the token is not. A call’s request without token and sequence number has no key.",
		},
		Answer:  "Any 2xx within 15 seconds. Rowlock answers with an empty TwiML document, which makes a call end and sends no reply.",
		Retries: "Once, and only when no connection was made; then the fallback URL. Connection overrides in the URL change that.",
		Notes:   []string{"If a proxy changes host, port or path, enter the address that Twilio calls as the public URL."},
	},
	proof: twilioProof{},
	events: reader{
		id: firstOf(unlisted(header("I-Twilio-Idempotency-Token")), field("id")),
		key: firstOf(
			alone(unlisted(header("I-Twilio-Idempotency-Token"))),
			prefixed("message", all(formField("MessageSid"), firstOf(formField("MessageStatus"), formField("SmsStatus")))),
			prefixed("call", all(formField("CallSid"), formField("CallStatus"), formField("SequenceNumber"))),
			prefixed("event", field("id")),
		),
		kind: firstOf(formField("MessageStatus"), formField("SmsStatus"), formField("CallStatus"), formField("EventType"), field("type")),
		list: listAt(),
	},
	accepted: func(Request) *Answer {
		return &Answer{Status: http.StatusOK, ContentType: "text/xml", Body: `<?xml version="1.0" encoding="UTF-8"?><Response/>`}
	},
	sample: sample{
		header: map[string]string{"Content-Type": "application/x-www-form-urlencoded", "I-Twilio-Idempotency-Token": "{id}"},
		body:   "AccountSid=ACtest&From=%2B15005550006&MessageSid=SM{id}&MessageStatus=delivered&To=%2B15005550001",
	},
}

const (
	twilioSignature = "X-Twilio-Signature"
	twilioBodyHash  = "bodySHA256"
)

type twilioProof struct{}

func (twilioProof) prove(r Request, _ Settings, secrets []Secret) (proof, error) {
	text, err := signatureHeader(r.Header, twilioSignature)
	if err != nil {
		return proof{}, err
	}
	sent, ok := decodeBase64(text, hashSHA1.size)
	if !ok {
		return proof{}, malformed(twilioSignature, "The header "+twilioSignature+" is not base64 of the length that sha1 has.")
	}
	if !twilioCovers(r) {
		return proof{}, &Refusal{
			Code: CodeMismatch, Header: twilioSignature,
			Detail: "The body is no form, and the address has no " + twilioBodyHash + " that is its hash: nothing signs the body.",
		}
	}
	fields, err := twilioFields(r)
	if err != nil {
		return proof{}, err
	}
	for _, address := range twilioAddresses(r.URL) {
		if secret, ok := matchHMAC(hashSHA1.newHash, secrets, twilioText(address, fields), [][]byte{sent}); ok {
			return proof{secret: secret}, nil
		}
	}
	return proof{}, mismatch(twilioSignature, secrets)
}

// twilioCovers tells whether the signature says something about the body.
func twilioCovers(r Request) bool {
	if len(r.Body) == 0 || twilioSignsForm(r) {
		return true
	}
	sum := sha256.Sum256(r.Body)
	_, signed, _ := strings.Cut(r.URL, "?") // the query that came may be another one
	query, err := url.ParseQuery(signed)
	return err == nil && len(query[twilioBodyHash]) == 1 && strings.EqualFold(query.Get(twilioBodyHash), hex.EncodeToString(sum[:]))
}

// twilioSignsForm tells whether the fields of the body are signed: those of a
// GET stand in its address.
func twilioSignsForm(r Request) bool { return isForm(r.Header) && r.Method != http.MethodGet }

// maxTwilioFields bounds the fields of a form, which are sorted before anybody
// has proven them: far above what Twilio sends.
const maxTwilioFields = 1000

// twilioText is what is signed: the address, and the fields of a form.
func twilioText(address string, fields [][]byte) [][]byte {
	return append([][]byte{[]byte(address)}, fields...)
}

// twilioFields are the fields of a form as they are signed; what is none has
// none. Of a name that comes several times each value counts once.
func twilioFields(r Request) ([][]byte, error) {
	if !twilioSignsForm(r) {
		return nil, nil
	}
	if bytes.Count(r.Body, []byte("&")) >= maxTwilioFields {
		return nil, malformed("", fmt.Sprintf("The form has more than %d fields.", maxTwilioFields))
	}
	var fields [][]byte
	form := readForm(r.Body)
	names := make([]string, 0, len(form))
	for name := range form {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		values := slices.Clone(form[name])
		slices.Sort(values)
		for _, value := range slices.Compact(values) {
			fields = append(fields, []byte(name), []byte(value))
		}
	}
	return fields, nil
}

// twilioAddresses are the ways in which Twilio may have written an address:
// as it is, and with the port added or left out.
func twilioAddresses(address string) []string {
	scheme, rest, ok := strings.Cut(address, "://")
	if !ok {
		return []string{address}
	}
	host, path := rest, ""
	if i := strings.IndexAny(rest, "/?"); i >= 0 {
		host, path = rest[:i], rest[i:]
	}
	if name, port, ok := strings.Cut(host, ":"); ok && isDigits(port) {
		return []string{address, scheme + "://" + name + path}
	}
	port := ":443"
	if scheme == "http" {
		port = ":80"
	}
	return []string{address, scheme + "://" + host + port + path}
}

func (twilioProof) sign(r *Request, _ Settings, secret string) error {
	if !twilioCovers(*r) {
		sum := sha256.Sum256(r.Body)
		between := "?"
		if strings.Contains(r.URL, "?") {
			between = "&"
		}
		added := twilioBodyHash + "=" + hex.EncodeToString(sum[:])
		r.URL += between + added
		r.Query = strings.TrimPrefix(r.Query+"&"+added, "&")
	}
	fields, err := twilioFields(*r)
	if err != nil {
		return err
	}
	mac := computeHMAC(hashSHA1.newHash, []byte(secret), twilioText(r.URL, fields))
	r.Header.Set(twilioSignature, inBase64.encode(mac))
	return nil
}
