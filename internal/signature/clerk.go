package signature

// clerk verifies Clerk's webhooks, which Svix sends.
//
// Source: clerk.com/docs/webhooks/overview.
var clerk = svixCustomer(Info{
	Kind: "clerk", Name: "Clerk", Summary: "Standard Webhooks, svix-* headers", Group: GroupIdentity,
	Words: "user session organization login authentication",
	Docs:  "https://clerk.com/docs/webhooks/overview",
	Steps: []string{
		"In Clerk’s Dashboard, open Configure, then Webhooks, and choose “Add Endpoint”.",
		"Paste the ingest URL as the “Endpoint URL”, choose the events, and create the endpoint.",
		"Copy the “Signing Secret”. If it is not the one you entered here, change the secret.",
	},
}, `{"data":{"id":"user_test","object":"user","first_name":"Example"},"object":"event","timestamp":{ms},"type":"user.created"}`)
