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
// in other company. An entry's id is that of the page or the account. The
// messages in it have ids of their own, and a status of WhatsApp's is known by
// its message's id, by what it says and, in a group, of whom it says so.
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
		SecretQuery: []string{metaTokenSent},
		Methods:     []string{http.MethodGet},
		Batch:       true,
		Steps: []string{
			"At developers.facebook.com, open the app and its Webhooks product, and choose the object. For WhatsApp, open WhatsApp, then Configuration.",
			"Paste the ingest URL as the “Callback URL”, and the verify token of this source as the “Verify token”.",
			"Choose “Verify and save”. Meta sends a challenge at once, which Rowlock answers.",
			"Subscribe to the fields, such as messages.",
		},
		Protects: "The body, with the ids of the messages in it, is signed; the time of sending is not.",
		Key: KeyInfo{
			From: "the entry’s id with those of the messages in it, and of statuses with the status and its recipient; else the entry’s time with the hash of its bytes", Signed: true,
			Scope: "An entry that holds anything else beside messages is known by its time and hash. One with neither ids nor a time has no key: two of the same bytes can be two events.",
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
	metaTokenSent      = "hub.verify_token"
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
	want, err := metaToken(settings.Raw)
	if err != nil {
		want = "" // settings that cannot be read verify nothing
	}
	query, _ := url.ParseQuery(r.Query) // what can be read of it
	sent := query.Get(metaTokenSent)
	refusal := Refusal{Code: CodeMismatch, Detail: "The " + metaTokenSent + " in the address is not the verify token of this source."}
	if want != "" {
		refusal.Status = http.StatusForbidden // what Meta shows as a wrong token
	}
	switch {
	case sent == "" || query.Get("hub.mode") != "subscribe":
		refusal.Code, refusal.Detail = CodeMissing, "A GET is for Meta’s check of the address, and this one has no hub.mode=subscribe or no "+metaTokenSent+"."
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
// messages and statuses of WhatsApp, messages of Messenger and Instagram. An
// entry with another list in it is not known by the ids of one alone. Meta's ids
// hold no space.
func metaIDs(in *input) string {
	ids := []string{field("id")(in)}
	for _, change := range metaItems(in, "changes") {
		value := change.part(change.value([]string{"value"}))
		messages, statuses := metaItems(value, "messages"), metaItems(value, "statuses")
		if len(messages)+len(statuses) == 0 || metaHolds(value, "messages", "statuses", "contacts") {
			return ""
		}
		ids = appendFound(ids, messages, field("id"))
		ids = appendFound(ids, statuses, metaStatus)
	}
	ids = appendFound(ids, metaItems(in, "messaging"), metaMessage)
	if len(ids) == 1 || slices.Contains(ids, "") || metaHolds(in, "changes", "messaging") {
		return ""
	}
	return strings.Join(ids, " ")
}

// metaHolds tells that there is a list under another name than those.
func metaHolds(in *input, names ...string) bool {
	for name, value := range in.topLevel() {
		if value[0] == '[' && !slices.Contains(names, name) {
			return true
		}
	}
	return false
}

// metaStatus finds what a status says, and of whom: in a group each participant
// has one of the same message. The places of what is not there are kept.
func metaStatus(in *input) string {
	status := all(field("id"), field("status"))(in)
	if status == "" {
		return ""
	}
	for _, name := range []string{"recipient_id", "recipient_participant_id", "recipient_participant_user_id"} {
		status += ":" + joinable.Replace(field(name)(in))
	}
	return status
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
		items[i] = in.part(item)
	}
	return items
}

func appendFound(ids []string, items []*input, find finder) []string {
	for _, item := range items {
		ids = append(ids, find(item))
	}
	return ids
}
