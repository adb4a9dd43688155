package signature

import (
	"errors"
	"strings"
)

// stripe verifies Stripe's webhooks: HMAC-SHA256 over "{t}.{body}", in
// Stripe-Signature as "t=SECONDS,v1=HEX", with one v1 for each secret while
// one is rolled, and a v0 in test mode that means nothing.
//
// The key is the whole secret as text, "whsec_" included. Standard Webhooks
// uses the same prefix and decodes what follows it: the two do not mix.
//
// The event's id and type are in the body and so are signed. A retry keeps the
// id and has a new time and signature.
//
// Source: docs.stripe.com/webhooks, "Verify webhook signatures manually".
var stripe = &provider{
	info: Info{
		Kind: "stripe", Name: "Stripe", Summary: "HMAC, time and body", Group: GroupPayments,
		Words: "payment invoice checkout subscription charge card connect",
		Docs:  "https://docs.stripe.com/webhooks",
		Secret: SecretInfo{
			Name: "Signing secret", After: true,
			From: "It begins with whsec_. Stripe shows it on the page of the event destination, under “Signing secret”.",
		},
		Timed: true,
		Steps: []string{
			"In Stripe’s Dashboard, open Workbench, then Webhooks, and add a destination of the type webhook endpoint.",
			"Choose the events, and paste the ingest URL as the “Endpoint URL”.",
			"Reveal the “Signing secret” of the new destination. If it is not the one you entered here, change the secret.",
		},
		Protects: "The body, with the event’s id in it, and the time are signed.",
		Key: KeyInfo{
			From: "the body’s id (evt_…)", Signed: true,
			Scope: "Stripe can make two events with different ids of one change; a rule can tell them by data.object.id and type.",
		},
		Answer:  "Any 2xx within a few seconds; a redirect counts as a failure.",
		Retries: "For up to three days with growing waits, always with the same event id. A sandbox tries three times.",
		Notes:   []string{"The endpoints of a platform account and of its connected accounts have different secrets: make a source for each."},
	},
	secret: stripeSecret,
	proof: macProof{
		header: "Stripe-Signature", signed: signs("{timestamp}", ".", "{body}"),
		pairs: &pairs{between: ",", inside: "=", label: "v1", timeLabel: "t"},
	},
	events: reader{id: field("id"), kind: field("type")},
	sample: sample{body: `{"id":"evt_{id}","object":"event","type":"invoice.paid","created":{unix},"livemode":false,"data":{"object":{"id":"in_test","object":"invoice","amount_paid":1999,"currency":"eur"}}}`},
}

var errStripeSecret = errors.New("this is a key or an id of the Stripe API; the signing secret of the webhook endpoint begins with whsec_")

// stripeSecret refuses what people paste from the neighbouring page. It does
// not insist on whsec_, since other products sign as Stripe does.
func stripeSecret(pasted string) (string, error) {
	secret, err := checkText(pasted)
	if err != nil {
		return "", err
	}
	for _, prefix := range []string{"sk_", "rk_", "pk_", "we_"} {
		if strings.HasPrefix(secret, prefix) {
			return "", errStripeSecret
		}
	}
	return secret, nil
}
