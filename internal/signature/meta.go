package signature

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode"
)

// meta verifies webhooks of Meta's apps (WhatsApp, Messenger, Instagram, Pages):
// HMAC-SHA256 over the body, keyed with the app secret as text, in
// X-Hub-Signature-256 as "sha256=" and hex. Meta writes everything outside of
// ASCII as \u and may write slashes as \/, and signs what it sends: the body is
// never to be read and written again. The SHA-1 in X-Hub-Signature is not
// looked at.
//
// A request is a list of entries, in no order that is told, and a retry may come
// in other company. Entries have no id. The messages in them have one, and a
// status of WhatsApp's is known by its message's id and what it says.
//
// An address is checked with an unsigned GET, which shows the verify token that
// the operator chose and wants its challenge back.
//
// Source: developers.facebook.com, "Graph API: Webhooks, Getting Started" and
// "WhatsApp: Create a webhook endpoint". How often and how long Meta retries is
// not taken from there.
var meta = &provider{
	info: Info{
		Kind: "meta", Name: "Meta", Summary: "HMAC over the body", Group: GroupMessaging,
		Words: "facebook whatsapp messenger instagram threads page graph",
		Docs:  "https://developers.facebook.com/docs/graph-api/webhooks/getting-started",
		Secret: SecretInfo{
			Name: "App secret",
			From: "At developers.facebook.com, open the app, then “App settings”, then Basic: it is the “App secret”.",
		},
		Settings: []Setting{{
			Name: settingVerifyToken, Label: "Verify token", Example: "a-long-random-text", Private: true, Mono: true, Wide: true, MaxLength: maxVerifyToken,
			Hint: "Make up a long random text and enter the same one at Meta. Without it, Meta’s check of the address is refused.",
		}},
		Methods: []string{http.MethodGet},
		Batch:   true,
		Steps: []string{
			"At developers.facebook.com, open the app and its Webhooks product, and choose the object. For WhatsApp, open WhatsApp, then Configuration.",
			"Paste the ingest URL as the “Callback URL”, and the verify token of this source as the “Verify token”.",
			"Choose “Verify and save”. Meta sends a challenge at once, which Rowlock answers.",
			"Subscribe to the fields, such as messages.",
		},
		Protects: "The body, with the ids of the messages in it, is signed; the time of sending is not.",
		Key: KeyInfo{
			From: "the ids of the messages and statuses in an entry, else the entry’s bytes where it has a time", Signed: true,
			Scope: "An entry with neither ids nor a time has no key: two of the same bytes can be two events.",
		},
		Answer:  "200, as a rule within 5 to 10 seconds.",
		Retries: "Ever less often for about 36 hours. An app whose address fails for long is unsubscribed.",
		Notes: []string{
			"The verify token is not the app secret: it is for the check of the address alone.",
			"One request can bring up to a thousand updates. Each entry becomes one event.",
			"All pages, numbers and accounts of an app share one address.",
		},
	},
	settings: metaSettings,
	proof:    macProof{header: "X-Hub-Signature-256", prefix: "sha256="},
	greeting: metaSubscribe,
	events: reader{
		list: listAt("entry"),
		key:  firstOf(metaIDs, all(field("time"), hashed)),
		kind: outer("object"),
	},
	sample: sample{
		body: `{"object":"whatsapp_business_account","entry":[{"id":"102290129340398","changes":[{"value":{"messaging_product":"whatsapp","metadata":{"display_phone_number":"15550783881","phone_number_id":"106540352242922"},"messages":[{"from":"16505551234","id":"wamid.{id}","timestamp":"{unix}","type":"text","text":{"body":"Sent from the test console"}}]},"field":"messages"}]}]}`,
	},
}

const (
	settingVerifyToken = "verify_token"
	// maxVerifyToken is in bytes: far above what people make up, and it comes
	// in a query.
	maxVerifyToken = 256
)

var errVerifyToken = fmt.Errorf(`setting "verify_token" is longer than %d bytes, or has white space at an end or a control character inside`, maxVerifyToken)

func metaSettings(raw json.RawMessage) error {
	token, err := metaToken(raw)
	if err == nil && (len(token) > maxVerifyToken || strings.TrimSpace(token) != token || strings.ContainsFunc(token, unicode.IsControl)) {
		return errVerifyToken
	}
	return err
}

func metaToken(raw json.RawMessage) (string, error) {
	token := ""
	err := decodeSettings(raw, map[string]any{settingVerifyToken: &token})
	return token, err
}

// metaSubscribe answers the check of an address. Every GET is one, or nothing.
func metaSubscribe(r Request, settings Settings) (*Handshake, error) {
	if r.Method != http.MethodGet {
		return nil, nil
	}
	const where = "hub.verify_token"
	want, err := metaToken(settings.Raw)
	if err != nil {
		want = "" // settings that cannot be read verify nothing
	}
	query, _ := url.ParseQuery(r.Query) // what can be read of it
	sent := query.Get(where)
	refusal := Refusal{Code: CodeMismatch, Detail: "The " + where + " in the address is not the verify token of this source."}
	if want != "" {
		refusal.Status = http.StatusForbidden // what Meta shows as a wrong token
	}
	switch {
	case sent == "" || query.Get("hub.mode") != "subscribe":
		refusal.Code, refusal.Detail = CodeMissing, "A GET is for Meta’s check of the address, and this one has no hub.mode=subscribe or no "+where+"."
		return nil, &refusal
	case want == "":
		refusal.Detail = "Meta checks the address, and this source has no verify token to compare with."
		return nil, &refusal
	case !sameText([]byte(want), []byte(sent)):
		return nil, &refusal
	}
	return &Handshake{Answer: *text(http.StatusOK, query.Get("hub.challenge")), Detail: "Meta checked the address, and its challenge was answered."}, nil
}

// metaIDs finds what repeats of an entry share if everything in it has an id:
// messages and statuses of WhatsApp, messages of Messenger and Instagram. Meta's
// ids hold no space.
func metaIDs(in *input) string {
	var ids []string
	for _, change := range metaItems(in, "changes") {
		messages, statuses := metaItems(change, "value", "messages"), metaItems(change, "value", "statuses")
		if len(messages)+len(statuses) == 0 {
			return ""
		}
		ids = appendFound(ids, messages, field("id"))
		ids = appendFound(ids, statuses, all(field("id"), field("status")))
	}
	ids = appendFound(ids, metaItems(in, "messaging"), metaMessage)
	if slices.Contains(ids, "") {
		return ""
	}
	return strings.Join(ids, " ")
}

// metaMessage finds the id of a message. One that was taken back is told under
// the id of the message that it was, and so is told by its bytes.
func metaMessage(in *input) string {
	if len(in.value([]string{"message", "is_deleted"})) > 0 {
		return ""
	}
	return field("message", "mid")(in)
}

// metaItems are the elements of the list to which exact names lead.
func metaItems(in *input, path ...string) []*input {
	var list []json.RawMessage
	if json.Unmarshal(in.value(path), &list) != nil {
		return nil
	}
	items := make([]*input, len(list))
	for i, item := range list {
		items[i] = &input{Request: in.Request, doc: item}
	}
	return items
}

func appendFound(ids []string, items []*input, find finder) []string {
	for _, item := range items {
		ids = append(ids, find(item))
	}
	return ids
}
