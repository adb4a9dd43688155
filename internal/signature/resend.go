package signature

// resend verifies Resend's webhooks, which Svix sends; svixCustomer says how.
// The id of the mail in data.email_id is the same in everything that is told of
// the mail, and no id of an event.
//
// Source: resend.com/docs/webhooks, "Verify Webhooks Requests".
var resend = svixCustomer(Info{
	Kind: "resend", Name: "Resend", Summary: "Svix: HMAC, id, time and body", Group: GroupMessaging,
	Words: "mail email svix bounce delivered open click contact domain",
	Docs:  "https://resend.com/docs/webhooks/introduction",
	Steps: []string{
		"At resend.com, open Webhooks and choose “Add Webhook”.",
		"Paste the ingest URL as the “Endpoint URL”, choose the event types, and add it.",
		"Copy the “Signing Secret” of the new webhook. If it is not the one you entered here, change the secret.",
	},
	Notes: []string{"The field data.email_id names the mail, not the event: everything that is told of one mail has the same."},
}, `{"type":"email.delivered","created_at":"{time}","data":{"email_id":"56761188-7520-42d8-8898-ff6fc54ce618","from":"Acme <onboarding@resend.dev>","to":["delivered@resend.dev"],"subject":"Sent from the test console"}}`)
