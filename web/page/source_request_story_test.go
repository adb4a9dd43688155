package page_test

import (
	"strings"
	"testing"
	"time"

	"github.com/rowlock/rowlock/web/page"
)

// What to do depends on why a request was refused, and on the kind of source.
func TestSourceRequestSaysWhatToDo(t *testing.T) {
	t.Parallel()
	stripe := page.SourceKind{Kind: "stripe", Name: "Stripe", Service: true, Secret: "Signing secret", SecretFrom: "It begins with whsec_.", SecretAfter: true, Timed: true}
	discord := page.SourceKind{Kind: "discord", Name: "Discord", Service: true, Secret: "Public key", Public: true}
	notion := page.SourceKind{Kind: "notion", Name: "Notion", Service: true, Secret: "Verification token", Captured: true}
	twilio := page.SourceKind{Kind: "twilio", Name: "Twilio", Service: true, Secret: "Auth token", URLSigned: true}
	hmac := page.SourceKind{Kind: "hmac", Name: "Any HMAC", Secret: "Shared secret", Settings: []page.KindSetting{{Name: "header"}}}
	token := page.SourceKind{Kind: "bearer", Name: "A token", Secret: "Token", BodyOpen: true}
	behind, ahead := -time.Hour, time.Hour
	for name, c := range map[string]struct {
		kind  page.SourceKind
		cause string
		skew  *time.Duration
		want  string
		not   string
	}{
		"another secret":       {stripe, "signature_mismatch", nil, "be that of another address. It begins with whsec_.", "public URL"},
		"another key":          {discord, "signature_mismatch", nil, "Compare the “Public key” of this source with the one at Discord", "of another address"},
		"a secret set up anew": {notion, "signature_mismatch", nil, "take the next secret", "Compare"},
		"another address":      {twilio, "signature_mismatch", nil, "public URL has to be the one that is entered at Twilio", "of another address"},
		"other settings":       {hmac, "signature_mismatch", nil, "settings of this source", "public URL"},
		"an open body":         {token, "signature_mismatch", nil, "Compare the “Token” with the one at the sender", "changes the body"},
		"not signed":           {stripe, "signature_missing", nil, "Stripe is set up to sign", "Compare"},
		"another service":      {stripe, "signature_malformed", nil, "it was Stripe that sent this", "settings"},
		"signed otherwise":     {hmac, "signature_malformed", nil, "Compare the settings", "that sent this"},
		"too late":             {stripe, "timestamp_out_of_range", &behind, "raise the source’s time tolerance", "future"},
		"too early":            {stripe, "timestamp_out_of_range", &ahead, "in the future", "recorded"},
		"another sender":       {stripe, "address_not_allowed", nil, "If Stripe has a new address", "Compare"},
		"a known body":         {stripe, "body_replayed", nil, "replay guard", "Compare"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := page.SourceRequest{
				Frame: framed(), Source: page.SourceHead{Path: "/a/acme/sources/src_1", Name: "x", Kind: c.kind}, Now: noon, At: noon,
				Cause: c.cause, Detail: "What was wrong.", Header: "X-Signature", Skew: c.skew, Manages: true, Href: "/a/acme/sources/src_1/requests/req_1",
			}
			d := drawn(t, page.SourceRequestPage(v))
			next := words(d.Find("#next"))
			if !strings.Contains(next, c.want) || strings.Contains(next, c.not) || !strings.Contains(next, "accept it late") {
				t.Errorf("what to do: %s", next)
			}
			if why := words(d.Find("#why")); !strings.Contains(why, "What was wrong.") || !strings.Contains(why, "X-Signature") {
				t.Errorf("why: %s", why)
			}
			if d.Find("#next .actions a").Length() == 0 && c.cause != "signature_missing" && c.kind.Service && !c.kind.Captured {
				t.Error("there is no way to where it is mended")
			}
			v.Manages = false
			if d := drawn(t, page.SourceRequestPage(v)); d.Find("#next .actions a, a[href$='/accept']").Length() != 0 {
				t.Error("who may only look is offered a change")
			}
			v.Manages, v.AcceptedAt, v.AcceptedBy = true, new(noon), hostile
			d = drawn(t, page.SourceRequestPage(v))
			if d.Find("#next, a[href$='/accept']").Length() != 0 || d.Find("#accepted").Length() != 1 {
				t.Errorf("what was accepted is still to be mended: %s", words(d.Find("main")))
			}
		})
	}
}
