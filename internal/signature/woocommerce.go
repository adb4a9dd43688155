package signature

import (
	"bytes"
	"net/http"
)

// wooCommerce verifies WooCommerce's webhooks: HMAC-SHA256 over the body, keyed
// with the secret as text, as base64 in X-WC-Webhook-Signature. A shop signs
// with the secret as it is shown: what stands in its database as &amp; is &.
// A plugin can choose another hash; such a shop is the kind hmac.
//
// X-WC-Webhook-Delivery-ID is a hash of the webhook's id and the second, so that
// two events of one second share it: the body tells them apart.
//
// A shop pings a new address with an unsigned form of one field, which must be
// answered by exactly 200 or the webhook cannot be saved; some look at the
// address with HEAD.
//
// Source: woocommerce/woocommerce, includes/class-wc-webhook.php.
var wooCommerce = &provider{
	info: Info{
		Kind: "woocommerce", Name: "WooCommerce", Summary: "HMAC over the body", Group: GroupPayments,
		Words: "wordpress shop order product customer coupon store",
		Docs:  "https://woocommerce.com/document/webhooks/",
		Secret: SecretInfo{
			Name: "Webhook secret", MadeUp: true,
			From: "Make up a long random text and enter the same one here and in the shop, under “Secret”.",
		},
		Methods: []string{http.MethodHead},
		Steps: []string{
			"In the shop’s WordPress admin, open WooCommerce, then Settings, then Advanced, then Webhooks, and choose “Add webhook”.",
			"Set the status to Active, choose the topic, and paste the ingest URL as the “Delivery URL”.",
			"Enter the same secret under “Secret”, and save. The shop pings the address, which Rowlock answers.",
		},
		Protects: "The body is signed; the delivery’s id, the topic and the time are not.",
		Key: KeyInfo{
			From:  "X-WC-Webhook-Delivery-ID and the body",
			Scope: "The id is one for each webhook and second: two events of the same second share it, and their bodies tell them apart.",
		},
		Answer:  "Any 2xx within 60 seconds; to the ping exactly 200.",
		Retries: "None. After more than five failures in a row the webhook is disabled.",
		Notes: []string{
			"A deleted object comes with its id alone.",
			"Webhooks leave with the shop’s scheduled actions, and may come late.",
		},
	},
	proof:     macProof{header: wooSignature, encoding: inBase64},
	greeting:  wooGreeting,
	challenge: wooPing,
	events: reader{
		id:   header("X-WC-Webhook-Delivery-ID"),
		key:  all(header("X-WC-Webhook-Delivery-ID"), hashed),
		kind: header("X-WC-Webhook-Topic"),
	},
	sample: sample{
		header: map[string]string{
			"User-Agent": "WooCommerce/9.4.0 Hookshot (WordPress/6.7)", "X-WC-Webhook-Source": "https://shop.example.com/",
			"X-WC-Webhook-Topic": "order.updated", "X-WC-Webhook-Resource": "order", "X-WC-Webhook-Event": "updated",
			"X-WC-Webhook-ID": "142", "X-WC-Webhook-Delivery-ID": "{id}",
		},
		body: `{"id":727,"parent_id":0,"number":"727","status":"processing","currency":"USD","total":"29.35","line_items":[{"id":315,"name":"Sent from the test console","quantity":2}]}`,
	},
}

const wooSignature = "X-WC-Webhook-Signature"

// wooGreeting answers what a shop sends unsigned before it trusts an address.
func wooGreeting(r Request, _ Settings) (*Handshake, error) {
	switch {
	case r.Method == http.MethodHead:
		return &Handshake{Answer: *plain(http.StatusOK), Detail: "The shop looked whether the address answers."}, nil
	case len(r.Header.Values(wooSignature)) > 0:
		return nil, nil // what is signed has to be signed well
	}
	return wooPing(&input{Request: r}, Secret{}), nil
}

// wooPing knows the ping by its exact form: nothing else may come unsigned.
func wooPing(in *input, _ Secret) *Handshake {
	webhook, ok := bytes.CutPrefix(in.Body, []byte("webhook_id="))
	if !ok || len(webhook) == 0 || !isDigits(string(webhook)) || !isForm(in.Header) {
		return nil
	}
	return &Handshake{Answer: *plain(http.StatusOK), Detail: "The shop pinged the address of a new webhook."}
}
