package signature

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
)

// microsoftGraph verifies change notifications of Microsoft Graph. Nothing is
// signed: every notification carries the clientState that the subscription was
// made with, and all of a request have to.
//
// A request is a list of notifications, of one subscription or of many. An id
// is optional: without it, the subscription, the resource, the change and the
// resource's etag tell repeats.
//
// An address is checked, when a subscription is made and again later, by an
// empty POST with a validationToken in its query, which wants it back decoded.
// The tokens in validationTokens, which come with encrypted content, are not
// looked at.
//
// Source: microsoftgraph/microsoft-graph-docs-contrib,
// concepts/change-notifications-delivery-webhooks.md.
var microsoftGraph = &provider{
	info: Info{
		Kind: "microsoft_graph", Name: "Microsoft Graph", Summary: "Client state in the body", Group: GroupWork,
		Words: "office 365 outlook teams sharepoint onedrive entra azure mail calendar subscription",
		Docs:  "https://learn.microsoft.com/en-us/graph/change-notifications-delivery-webhooks",
		Secret: SecretInfo{
			Name: "Client state", MadeUp: true,
			From: "Make up a long random text of at most 128 characters, and give it as clientState when the subscription is made.",
		},
		BodyOpen: true, Bare: true, Batch: true,
		Steps: []string{
			"Send POST to https://graph.microsoft.com/v1.0/subscriptions with the changeType, the resource and the expirationDateTime.",
			"Give the ingest URL as notificationUrl, and the client state of this source as clientState.",
			"Microsoft sends a validation token to the address at once, which Rowlock answers, and the subscription is made.",
			"Renew the subscription before it expires: Microsoft deletes it otherwise.",
		},
		Protects: "Nothing is signed. The client state shows who sends: the body, its ids and the time are open.",
		Key: KeyInfo{
			From:  "each notification’s id, else its subscriptionId, resource, changeType and the resource’s @odata.etag",
			Scope: "A notification with neither an id nor an etag, such as one about the subscription itself, has no key.",
		},
		Answer:  "Any 2xx within 3 seconds; Rowlock answers 202. The validation token is due within 10 seconds.",
		Retries: "Many times for up to 4 hours. An address that is slow, with one answer in ten above 2.9 seconds, is throttled.",
		Notes: []string{
			"Subscriptions with different client states can share an address: give this source each of them as a secret.",
			"The client state is in every notification, and so in the body that receivers get.",
			"The tokens that come with encrypted content (validationTokens) are not checked: a receiver that decrypts it has to.",
		},
	},
	proof:    clientState{},
	greeting: graphValidation,
	events: reader{
		list: listAt(graphList),
		id:   field("id"),
		key: firstOf(field("id"),
			all(field("subscriptionId"), field("resource"), field("changeType"), field("resourceData", "@odata.etag"))),
		kind: firstOf(field("changeType"), field("lifecycleEvent")),
	},
	accepted: func(Request) *Answer { return plain(http.StatusAccepted) },
	sample: sample{
		body: `{"value":[{"id":"{id}","subscriptionId":"7f105c7d-2dc5-4530-97cd-4e7ae6534c07","subscriptionExpirationDateTime":"{time}","clientState":"","changeType":"created","resource":"users/u1/messages/m1","tenantId":"84bd8158-6d4d-4958-8b9f-9d6445542f95","resourceData":{"@odata.type":"#Microsoft.Graph.Message","id":"m1"}}]}`,
	},
}

const (
	graphList  = "value"
	graphState = "clientState"
)

// graphValidation answers the check of an address, which is a POST like any
// other but for its query and its empty body.
func graphValidation(r Request, _ Settings) (*Handshake, error) {
	query, _ := url.ParseQuery(r.Query) // what can be read of it
	token := query.Get("validationToken")
	if token == "" || len(r.Body) > 0 {
		return nil, nil
	}
	return &Handshake{Answer: *text(http.StatusOK, token), Detail: "Microsoft checked the address, and its validation token was answered."}, nil
}

// clientState proves requests by a secret that stands in each element of the
// list in the body.
type clientState struct{}

// prove wants one of the secrets in every notification: one that is not proven
// would come in with the others.
func (clientState) prove(r Request, _ Settings, secrets []Secret) (proof, error) {
	parts, ok := splitList(r.Body, []string{graphList})
	switch {
	case !ok:
		return proof{}, malformed("", "The body is not JSON with a list of notifications in value.")
	case len(parts.elements) == 0:
		return proof{}, &Refusal{Code: CodeMissing, Detail: "The body holds no notification, and so no clientState."}
	}
	var found proof
	for i, element := range parts.elements {
		sent := textOf((&input{doc: element}).value([]string{graphState}))
		if sent == "" {
			return proof{}, &Refusal{Code: CodeMissing, Detail: "A notification in the body has no clientState."}
		}
		at := slices.IndexFunc(secrets, func(s Secret) bool { return sameText(s.Value, []byte(sent)) })
		if at < 0 {
			refusal := wrongToken("the clientState of a notification", secrets)
			refusal.Header = ""
			return proof{}, refusal
		}
		if i == 0 {
			found.secret = secrets[at]
		}
	}
	return found, nil
}

// sign writes the secret into each notification. A body without a list of them
// stays as it is.
func (clientState) sign(r *Request, _ Settings, secret string) error {
	parts, ok := splitList(r.Body, []string{graphList})
	if !ok || len(parts.elements) == 0 {
		return nil
	}
	state, err := json.Marshal(secret)
	if err != nil {
		return fmt.Errorf("write the client state: %w", err)
	}
	signed := make([][]byte, len(parts.elements))
	for i, element := range parts.elements {
		signed[i] = withState(element, state)
	}
	r.Body = slices.Concat(r.Body[:parts.first], bytes.Join(signed, []byte(",")), r.Body[parts.last:])
	return nil
}

// withState is a notification with the client state, which is put first where
// it has none.
func withState(element, state []byte) []byte {
	if from, to, ok := memberOf(element, 0, len(element), graphState); ok {
		return slices.Concat(element[:from], state, element[to:])
	}
	inside, ok := bytes.CutPrefix(element, []byte("{"))
	if !ok {
		return element // no notification at all
	}
	member := slices.Concat([]byte(`{"`+graphState+`":`), state)
	if len(topLevel(element)) > 0 {
		member = append(member, ',')
	}
	return append(member, inside...)
}
