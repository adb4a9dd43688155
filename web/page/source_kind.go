package page

import "github.com/rowlock/rowlock/web/component"

// SourceKind is what people are told about a kind of source.
type SourceKind struct {
	// Kind is its name in the API.
	Kind string
	// Name is the name for people, Summary how its requests are proven.
	Name, Summary string
	// Service tells that the name is that of one service, and so a good name
	// for a source too.
	Service bool
	// Secret is what its secret is called there; empty for a kind without one.
	// SecretFrom says where it comes from.
	Secret, SecretFrom string
	// SecretAfter tells that the provider makes the secret, and shows it only
	// when it knows the address to send to.
	SecretAfter bool
	// Timed tells that requests carry a signed time, or may.
	Timed bool
	// Paste are the steps to where the ingest URL belongs.
	Paste []string
}

// sourceKinds are the words about kinds of sources, by their names.
var sourceKinds = map[string]SourceKind{
	"api": {
		Name: "API key", Summary: "Your own applications",
	},
	"github": { //nolint:gosec // words about secrets; none of them is one
		Name: "GitHub", Summary: "HMAC over the body", Service: true,
		Secret: "Webhook secret", SecretFrom: "Make up a long random text and enter the same one here and at GitHub, under “Secret”.",
		Paste: []string{
			"At GitHub, open the repository’s or the organization’s Settings, then Webhooks, then “Add webhook”.",
			"Paste the ingest URL as the “Payload URL” and choose the content type application/json.",
			"Enter the same secret under “Secret”, choose the events, and save. GitHub sends a ping at once.",
		},
	},
	"stripe": {
		Name: "Stripe", Summary: "HMAC, time and body", Service: true,
		Secret: "Signing secret", SecretFrom: "It begins with whsec_. Stripe shows it on the page of the event destination, under “Signing secret”.",
		SecretAfter: true, Timed: true,
		Paste: []string{
			"In Stripe’s Dashboard, open Workbench, then Webhooks, and add a destination of the type webhook endpoint.",
			"Choose the events, and paste the ingest URL as the “Endpoint URL”.",
			"Reveal the “Signing secret” of the new destination. If it is not the one you entered here, change the secret.",
		},
	},
	"standard_webhooks": {
		Name: "Standard Webhooks", Summary: "HMAC v1 or Ed25519 v1a",
		Secret: "Signing secret or public key", SecretFrom: "The sender shows it beside its webhook’s address: a secret begins with whsec_, a public key with whpk_.",
		SecretAfter: true, Timed: true,
		Paste: []string{
			"Open the sender’s page for webhooks and add an endpoint.",
			"Paste the ingest URL as its address and choose the events.",
			"Copy the endpoint’s signing secret. If it is not the one you entered here, change the secret.",
		},
	},
	"hmac": { //nolint:gosec // words about a secret, and none
		Name: "Any HMAC", Summary: "You pick header, hash",
		Secret: "Shared secret", SecretFrom: "The text that the sender signs with, used as it is.",
		Timed: true,
		Paste: []string{
			"Open the sender’s settings for webhooks.",
			"Paste the ingest URL as the address to send to.",
			"Make sure that the sender signs with the same secret, and in the way that this source expects.",
		},
	},
	"none": {
		Name: "No signature", Summary: "The URL is the secret",
		Paste: []string{
			"Open the sender’s settings for webhooks.",
			"Paste the ingest URL as the address to send to, and keep it to yourself: it is all that protects this source.",
		},
	},
}

// KindOf returns what is told about a kind. One without words of its own is
// called by its name.
func KindOf(kind string) SourceKind {
	words, ok := sourceKinds[kind]
	if !ok {
		words = SourceKind{Name: component.Word(kind), Secret: "Secret"}
	}
	words.Kind = kind
	return words
}

// KindsOf is KindOf for several.
func KindsOf(kinds []string) []SourceKind {
	all := make([]SourceKind, len(kinds))
	for i, kind := range kinds {
		all[i] = KindOf(kind)
	}
	return all
}
