package page_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"

	"github.com/rowlock/rowlock/web/page"
)

// What to do depends on why a request was refused, and on the kind of source.
func TestSourceRequestSaysWhatToDo(t *testing.T) {
	t.Parallel()
	stripe := page.SourceKind{Kind: "stripe", Name: "Stripe", Service: true, Secret: "Signing secret", SecretFrom: "It begins with whsec_.", SecretAfter: true, Timed: true}
	discord := page.SourceKind{Kind: "discord", Name: "Discord", Service: true, Secret: "Public key", Public: true}
	notion := page.SourceKind{Kind: "notion", Name: "Notion", Service: true, Secret: "Verification token", Captured: true}
	graph := page.SourceKind{Kind: "microsoft_graph", Name: "Graph", Service: true, Secret: "Client state", SecretFrom: "Make up a long text.", MadeUp: true, BodyOpen: true, Bare: true}
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
		"a made-up secret":     {graph, "signature_mismatch", nil, "make up a new one and enter it at both", "Make up a long"},
		"nothing to read":      {graph, "signature_missing", nil, "set up to send the “Client state”", "Make up a long"},
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
			if d.Find("#next .actions a").Length() == 0 && c.cause != "signature_malformed" && name != "too early" {
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

// Buttons lead to where it is mended, and to nothing else.
func TestSourceRequestRemedies(t *testing.T) {
	t.Parallel()
	const at = "/a/acme/sources/src_1"
	stripe := page.SourceKind{Kind: "stripe", Name: "Stripe", Service: true, Secret: "Signing secret"}
	meta := page.SourceKind{Kind: "meta", Name: "Meta", Service: true, Secret: "App secret", Settings: []page.KindSetting{{Name: "verify_token"}}}
	asana := page.SourceKind{Kind: "asana", Name: "Asana", Service: true, Secret: "Hook secret", Captured: true}
	slack := page.SourceKind{Kind: "slack", Name: "Slack", Service: true, Secret: "Signing secret"}
	key := page.SourceKind{Kind: "telnyx", Name: "Telnyx", Service: true, Secret: "Public key", Public: true}
	behind, ahead := -time.Hour, time.Hour
	for name, c := range map[string]struct {
		v      page.SourceRequest
		want   []string
		says   string
		accept bool
	}{
		"wrongly signed":    {page.SourceRequest{Source: page.SourceHead{Kind: stripe}, Cause: "signature_mismatch"}, []string{"Change secret…", "Test"}, "see that the source itself works", true},
		"a key":             {page.SourceRequest{Source: page.SourceHead{Kind: key}, Cause: "signature_mismatch"}, []string{"Change key…", "Test"}, "Compare", true},
		"no secret at all":  {page.SourceRequest{Source: page.SourceHead{Kind: stripe, Bereft: true}, Cause: "signature_mismatch"}, []string{"Paste secret…", "Test"}, "until you paste the secret that Stripe shows", true},
		"a verify token":    {page.SourceRequest{Source: page.SourceHead{Kind: meta}, Cause: "signature_mismatch", Challenge: true}, []string{"Edit source"}, "Verify and save", false},
		"an offer":          {page.SourceRequest{Source: page.SourceHead{Kind: asana}, Cause: "signature_missing", Challenge: true}, []string{"Take the next secret"}, "Create the webhook at Asana again", false},
		"an awaited offer":  {page.SourceRequest{Source: page.SourceHead{Kind: asana, Capturing: true}, Cause: "signature_missing", Challenge: true}, nil, "waits for a secret now", false},
		"a signed check":    {page.SourceRequest{Source: page.SourceHead{Kind: slack}, Cause: "signature_mismatch", Challenge: true}, []string{"Change secret…"}, "check the address again", false},
		"too late":          {page.SourceRequest{Source: page.SourceHead{Kind: stripe}, Cause: "timestamp_out_of_range", Skew: &behind}, []string{"Edit source", "Test"}, "tolerance", true},
		"too early":         {page.SourceRequest{Source: page.SourceHead{Kind: stripe}, Cause: "timestamp_out_of_range", Skew: &ahead}, []string{"Test"}, "clocks", true},
		"another address":   {page.SourceRequest{Source: page.SourceHead{Kind: stripe}, Cause: "address_not_allowed"}, []string{"Edit source"}, "new address", true},
		"not its signature": {page.SourceRequest{Source: page.SourceHead{Kind: stripe}, Cause: "signature_malformed"}, nil, "another kind", true},
	} {
		v := c.v
		v.Frame, v.Now, v.At, v.Manages, v.Source.Path, v.Href, v.Detail = framed(), noon, noon, true, at, at+"/requests/req_1", "What was wrong."
		d := drawn(t, page.SourceRequestPage(v))
		got := d.Find("#next .actions a, #next .actions button").Map(func(_ int, s *goquery.Selection) string { return words(s) })
		if !slices.Equal(got, c.want) || !strings.Contains(words(d.Find("#next")), c.says) {
			t.Errorf("%s: %q in %s", name, got, words(d.Find("#next")))
		}
		if n := d.Find("#next li a[href$='/accept'], .head a[href$='/accept']").Length(); (n == 2) != c.accept || n == 1 {
			t.Errorf("%s: it can be accepted from %d places", name, n)
		}
		if post := d.Find("#next form[method='post'][action='" + at + "/capture']"); (post.Length() == 1) != slices.Contains(c.want, "Take the next secret") {
			t.Errorf("%s: %d forms", name, post.Length())
		}
		if edit := d.Find("#next a[href*='/edit?field=']"); (edit.Length() == 1) != slices.Contains(c.want, "Edit source") {
			t.Errorf("%s: it does not lead to the setting", name)
		}
	}
}

// A token that has to be pasted back is not done with by its answer.
func TestHandshakeWithATokenThatGoesBack(t *testing.T) {
	t.Parallel()
	notion := page.SourceKind{Kind: "notion", Name: "Notion", Service: true, Secret: "Verification token", Captured: true, Back: true}
	v := page.SourceRequest{Frame: framed(), Source: page.SourceHead{Path: "/a/acme/sources/src_1", Kind: notion}, Now: noon, At: noon, Cause: "handshake", Challenge: true, Detail: "Notion sent it."}
	d := drawn(t, page.SourceRequestPage(v))
	if why := words(d.Find("#why")); !strings.Contains(why, "Show the verification token") || strings.Contains(why, "Nothing is to be done") || d.Find("#why a[href$='#secrets']").Length() != 1 {
		t.Errorf("%s", why)
	}
	s := page.Source{
		Frame: framed(), SourceHead: v.Source, Now: noon, CreatedAt: noon, Waiting: true, Greeted: true,
		Latest: &page.RequestRow{Cause: "handshake"}, Secrets: []page.SourceSecret{{Captured: true, CreatedAt: noon}},
	}
	if token := words(drawn(t, page.SourcePage(s)).Find("#token")); !strings.Contains(token, "paste it at Notion under “Verify”") {
		t.Errorf("the waiting page: %q", token)
	}
}
