package signature

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// adyen verifies Adyen's webhooks. Standard ones bring a list of items, each
// with its own HMAC-SHA256 over eight of its values, joined with colons, in
// additionalData.hmacSignature as base64; all items have to be right. Those of
// the platform sign the body in the header HmacSignature. The key is the hex
// that Adyen shows, decoded.
//
// A pspReference is shared by an authorisation and what follows it, so that the
// key has the event's code and its success too.
//
// Source: docs.adyen.com/development-resources/webhooks/verify-hmac-signatures;
// adyen-go's hmacvalidator_test.go.
var adyen = &provider{
	info: Info{
		Kind: "adyen", Name: "Adyen", Summary: "HMAC over eight values of each item", Group: GroupPayments,
		Words: "payment authorisation capture refund platform marketplace",
		Docs:  "https://docs.adyen.com/development-resources/webhooks",
		Secret: SecretInfo{
			Name: "HMAC key",
			From: "64 hex digits. In the Customer Area, open the webhook and choose “Generate” under “HMAC key”.",
		},
		BodyOpen: true, Batch: true,
		Steps: []string{
			"In the Customer Area, open Developers, then Webhooks, and choose “Create new webhook”.",
			"Paste the ingest URL under “Server configuration”, with the method JSON.",
			"Generate the “HMAC key”, enter it here, and save. “Test configuration” sends a sample.",
		},
		Protects: "Of each item the references, the amount, the event’s code and its success are signed; its other values and the time are not.",
		Key: KeyInfo{
			From: "each item’s pspReference, eventCode and success together", Signed: true,
			Scope: "The pspReference alone repeats: a capture has that of its authorisation. What lacks one of the three, as all that the platform sends does, is known by the hash of its bytes.",
		},
		Answer:  "200 with the text [accepted], within 10 seconds.",
		Retries: "Three times at once, then in a queue with growing waits for up to 30 days. One item that is not accepted holds up those behind it.",
	},
	secret: adyenKey,
	proof:  adyenProof{},
	events: reader{
		list: listAt("notificationItems"),
		id:   field(adyenItem, "pspReference"),
		key:  firstOf(all(field(adyenItem, "pspReference"), field(adyenItem, "eventCode"), field(adyenItem, "success")), hashed),
		kind: firstOf(field(adyenItem, "eventCode"), field("type")),
	},
	accepted: func(Request) *Answer { return text(http.StatusOK, "[accepted]") },
	sample: sample{
		body: `{"live":"false","notificationItems":[{"NotificationRequestItem":{"additionalData":{"hmacSignature":""},"amount":{"currency":"EUR","value":1000},"eventCode":"AUTHORISATION","eventDate":"{time}","merchantAccountCode":"TestMerchant","merchantReference":"order-1","pspReference":"{id}","success":"true"}}]}`,
	},
}

const (
	adyenItem      = "NotificationRequestItem"
	adyenHeader    = "Hmacsignature"
	adyenInItem    = "additionalData.hmacSignature"
	adyenReference = "merchantReference" // the shop's own, which may hold anything
)

var errAdyenKey = errors.New("the key is not hex digits, an even number of them: it is shown when it is generated")

func adyenKey(pasted string) (string, error) {
	secret, err := checkText(pasted)
	if err != nil {
		return "", err
	}
	if _, err := hex.DecodeString(secret); err != nil {
		return "", errAdyenKey
	}
	return strings.ToUpper(secret), nil
}

// adyenBytes is a stored key as bytes; one that is no hex proves nothing.
func adyenBytes(secret []byte) []byte {
	raw, err := hex.DecodeString(string(secret))
	if err != nil {
		return nil
	}
	return raw
}

var adyenPlatform = macProof{header: adyenHeader, encoding: inBase64, key: adyenBytes}

type adyenProof struct{}

func (adyenProof) prove(r Request, settings Settings, secrets []Secret) (proof, error) {
	if len(r.Header.Values(adyenHeader)) > 0 {
		return adyenPlatform.prove(r, settings, secrets)
	}
	parts, ok := splitList(r.Body, []string{"notificationItems"})
	if !ok || len(parts.elements) == 0 {
		return proof{}, &Refusal{Code: CodeMissing, Detail: "The body has no items, and there is no header HmacSignature: nothing is signed."}
	}
	keys := adyenPlatform.keyed(secrets)
	var found Secret
	for _, element := range parts.elements {
		signed, err := adyenRead(element)
		if err != nil {
			return proof{}, err
		}
		sent, err := signed.sent()
		if err != nil {
			return proof{}, err
		}
		secret, ok := matchHMAC(hashSHA256.newHash, keys, [][]byte{[]byte(signed.text)}, [][]byte{sent})
		if !ok {
			return proof{}, mismatch(adyenInItem, secrets)
		}
		found = secret
	}
	return proof{secret: found}, nil
}

// adyenSigned is what is read of an item before anybody has proven it: the text
// that is signed, and the signature as it stands there.
type adyenSigned struct{ text, signature string }

// adyenRead reads an item. A value that is missing, or null, is empty; one that
// could not be told from another in the text is refused: the values are joined
// with colons, so that one alone may hold any.
func adyenRead(element []byte) (adyenSigned, error) {
	item := &input{doc: (&input{doc: element}).value([]string{adyenItem})}
	amount := item.part(item.value([]string{"amount"}))
	additional := item.part(item.value([]string{"additionalData"}))
	var values []string
	for _, signed := range []struct {
		in   *input
		name string
	}{
		{item, "pspReference"},
		{item, "originalReference"},
		{item, "merchantAccountCode"},
		{item, adyenReference},
		{amount, "value"},
		{amount, "currency"},
		{item, "eventCode"},
		{item, "success"},
	} {
		raw := signed.in.value([]string{signed.name})
		text := keyOf(raw)
		switch {
		case text == "" && raw != nil && string(raw) != `""` && string(raw) != "null":
			return adyenSigned{}, malformed("", "The "+signed.name+" of an item is neither a text nor a whole number, as it is signed.")
		case strings.Contains(text, ":") && signed.name != adyenReference:
			return adyenSigned{}, malformed("", "The "+signed.name+" of an item holds a colon, which parts the values that are signed.")
		}
		values = append(values, text)
	}
	return adyenSigned{strings.Join(values, ":"), textOf(additional.value([]string{"hmacSignature"}))}, nil
}

// sent is the signature of an item.
func (s adyenSigned) sent() ([]byte, error) {
	if s.signature == "" {
		return nil, &Refusal{Code: CodeMissing, Header: adyenInItem, Detail: "An item has no " + adyenInItem + "."}
	}
	sent, ok := decodeBase64(s.signature, hashSHA256.size)
	if !ok {
		return nil, malformed(adyenInItem, "The "+adyenInItem+" of an item is not base64 of the length that sha256 has.")
	}
	return sent, nil
}

// sign writes each item's signature where its place stands in the body.
func (adyenProof) sign(r *Request, _ Settings, secret string) error {
	key := adyenBytes([]byte(secret))
	if len(key) == 0 {
		return errAdyenKey
	}
	parts, ok := splitList(r.Body, []string{"notificationItems"})
	if !ok {
		return adyenPlatform.sign(r, Settings{}, secret)
	}
	signed := bytes.Clone(r.Body)
	for _, element := range parts.elements {
		start, end := 0, len(element)
		for _, name := range []string{adyenItem, "additionalData", "hmacSignature"} {
			if start, end, ok = memberOf(element, start, end, name); !ok {
				return fmt.Errorf("an item has no %s to write the signature to", adyenInItem)
			}
		}
		read, err := adyenRead(element)
		if err != nil {
			return err
		}
		mac := inBase64.encode(computeHMAC(hashSHA256.newHash, key, [][]byte{[]byte(read.text)}))
		whole := string(element[:start]) + `"` + mac + `"` + string(element[end:])
		signed = bytes.Replace(signed, element, []byte(whole), 1)
	}
	r.Body = signed
	return nil
}
