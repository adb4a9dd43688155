package signature

// shopify verifies Shopify's webhooks: HMAC-SHA256 over the body, keyed with
// the app's client secret as text, in X-Shopify-Hmac-Sha256 as base64.
//
// X-Shopify-Webhook-Id stays the same over the retries of one delivery;
// X-Shopify-Event-Id is shared by all webhooks of one action of a merchant, so
// that two topics have it. Neither is signed.
//
// Source: shopify.dev/docs/apps/build/webhooks, "Deliver webhooks through
// HTTPS" and "Ignore duplicate webhooks".
var shopify = &provider{
	info: Info{
		Kind: "shopify", Name: "Shopify", Summary: "HMAC over the body", Group: GroupPayments,
		Words: "shop store order product customer gdpr app",
		Docs:  "https://shopify.dev/docs/apps/build/webhooks",
		Secret: SecretInfo{
			Name: "Client secret",
			From: "Of an app: its “Client secret” in the Dev Dashboard. Of webhooks made in a store’s admin: the secret shown under Settings, Notifications, Webhooks.",
		},
		Steps: []string{
			"In the store’s admin, open Settings, then Notifications, then Webhooks, and choose “Create webhook”. Of an app, add the subscription to its configuration.",
			"Choose the event and the format JSON, and paste the ingest URL as the “URL”.",
			"Save, and check that the secret shown below the list is the one you entered here.",
		},
		Protects: "The body is signed; the webhook id, the topic and the time are not.",
		Key: KeyInfo{
			From:  "X-Shopify-Webhook-Id",
			Scope: "Each subscription’s delivery has its own id, which retries repeat; X-Shopify-Event-Id is shared by several topics and is not used.",
		},
		Answer:  "Any 2xx within 5 seconds, and a connection within one.",
		Retries: "Eight times over four hours. After eight failures in a row, a subscription made by API is deleted.",
	},
	proof: macProof{header: "X-Shopify-Hmac-Sha256", encoding: inBase64},
	events: reader{
		id:   header("X-Shopify-Webhook-Id"),
		kind: header("X-Shopify-Topic"),
	},
	sample: sample{
		header: map[string]string{
			"X-Shopify-Webhook-Id": "{id}", "X-Shopify-Event-Id": "event-{id}", "X-Shopify-Topic": "orders/create", "X-Shopify-Shop-Domain": "example.myshopify.com",
		},
		body: `{"id":820982911946154508,"email":"jon@example.com","total_price":"403.00","currency":"USD","line_items":[]}`,
	},
}
