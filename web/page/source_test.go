package page_test

import (
	"strings"
	"testing"
	"time"

	"github.com/a-h/templ"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/page"
)

// kindCalled is a kind with words for everything.
func kindCalled(kind string) page.SourceKind {
	k := page.SourceKind{
		Kind: kind, Name: component.Word(kind), Summary: "HMAC over the body", Docs: "https://example.com/docs",
		Secret: "Secret", SecretFrom: "Paste it.", Paste: []string{"Open the settings.", "Paste the URL."},
		Key: "X-Id", Answer: "Any 2xx.", Retries: "None.", Notes: []string{"A note."},
	}
	switch kind {
	case "none":
		k.Secret = ""
	case "hmac":
		k.Timed, k.Tolerance = true, "5m"
		k.Settings = []page.KindSetting{
			{Name: "header", Label: "Header", Required: true, Wide: true},
			{Name: "algorithm", Label: "Algorithm", Choices: []string{"sha256", "sha1"}},
			{Name: "signed", Label: "Signed", Mono: true},
			{Name: "versions", Label: "Versions", Choices: []string{"v1", "v2"}, Many: true},
		}
	case "api":
		k = page.SourceKind{Kind: kind, Name: "API key", Summary: "Your own applications"}
	}
	return k
}

// head is a source of a kind, called so.
func head(kind, name string) page.SourceHead {
	return page.SourceHead{
		ID: gateway.SourceID{1}, Path: "/a/acme/sources/src_1", Name: name, Kind: kindCalled(kind), State: gateway.SourceActive,
		URL: "https://hooks.example.com/ingest/in_1",
	}
}

func TestSourcesPage(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 2, 50} {
		v := page.Sources{Frame: framed(), Now: noon, Kinds: []page.SourceKind{kindCalled("github"), kindCalled("none")}, AllKinds: 45, Manages: true}
		for i := range n {
			row := page.SourceRow{SourceHead: head("github", hostile)}
			row.ID[15] = byte(i)
			row.Counts = page.SourceCounts{
				Received: 21407, Hours: []float64{1, 2, 3}, LastEvent: &noon,
				Rejected: []page.CauseCount{{Cause: "signature_mismatch", N: 17}},
			}
			v.Rows = append(v.Rows, row)
		}
		d := drawn(t, page.SourcesPage(v))
		rows := d.Find("#sources tbody tr")
		if rows.Length() != n || d.Find(".kinds a").Length() != 3 {
			t.Errorf("%d rows of %d, %d kinds", rows.Length(), n, d.Find(".kinds a").Length())
		}
		link := rows.First().Find("a[href*='cause=signature_mismatch']")
		if link.Text() != "17 wrong signature" || !strings.Contains(rows.Text(), "21,407") {
			t.Errorf("the first row: %s", rows.First().Text())
		}
	}
}

func TestSourcesPageOfANewAccount(t *testing.T) {
	t.Parallel()
	v := page.Sources{Frame: framed(), Now: noon, Manages: true, Rows: []page.SourceRow{{SourceHead: head("api", "API")}}}
	d := drawn(t, page.SourcesPage(v))
	if !strings.Contains(d.Find("main h2").Text(), "first source") || !strings.Contains(d.Find("#sources tbody").Text(), "never") {
		t.Errorf("%s", d.Find("main").Text())
	}
	v.Manages = false
	if d := drawn(t, page.SourcesPage(v)); d.Find("main a[href$='/sources/new']").Length() != 0 {
		t.Error("a member is offered to add one")
	}
}

func TestSourcePageWaits(t *testing.T) {
	t.Parallel()
	v := page.Source{Frame: framed(), SourceHead: head("stripe", hostile), Now: noon, CreatedAt: noon, Waiting: true, Manages: true, Operates: true, Try: "curl\n"}
	d := drawn(t, page.SourcePage(v))
	if d.Find("#waiting .steps > li").Length() != 4 || d.Find("#requests, #numbers").Length() != 0 || d.Find("#try [data-copy]").Length() != 1 {
		t.Errorf("%s", d.Find("main").Text())
	}
	v.Requests = []page.RequestRow{{Href: "/x", Cause: "signature_missing", Detail: "No header.", At: noon}}
	v.Latest, v.Greeted = &v.Requests[0], true
	d = drawn(t, page.SourcePage(v))
	if d.Find("#requests tbody tr").Length() != 1 || !strings.Contains(d.Find("#waiting").Text(), "newest request was refused") {
		t.Error("refused requests do not show while the first event is waited for")
	}
	if away := d.Find("#turned-away"); !strings.Contains(away.Text(), "No header.") || away.Find("a").AttrOr("href", "") != "/x" {
		t.Errorf("what to do is not told: %s", words(away))
	}
	if n := d.Find("#waiting li[data-done]").Length(); n != 2 {
		t.Errorf("after an answered handshake %d steps are done", n)
	}
	v.Latest = &page.RequestRow{Href: "/y", Cause: "handshake", At: noon} // it decides, whatever came before
	if d := drawn(t, page.SourcePage(v)); d.Find("#turned-away").Length() != 0 || !strings.Contains(d.Find("#waiting").Text(), "handshake was answered") {
		t.Error("an earlier refusal counts for more than the newest request")
	}
	v.Waiting, v.Requests, v.Latest = false, nil, nil
	d = drawn(t, page.SourcePage(v))
	if d.Find("details#steps:not([open]) li").Length() != 2 || d.Find(".head a[href*='/events?source=']").Length() != 1 {
		t.Error("where the URL belongs, or where the events are, is told no more")
	}
	for _, part := range []string{"#requests", "#secrets", "#numbers"} {
		if d.Find(part).AttrOr("data-live-refresh", "") != "events" {
			t.Errorf("%s is not live", part)
		}
	}
	if d.Find("#waiting").Length() != 0 || d.Find("#numbers .stat").Length() != 4 || d.Find("#requests .empty").Length() != 1 {
		t.Error("a source with events still waits")
	}
	v.Cause = "duplicate"
	if d := drawn(t, page.SourcePage(v)); d.Find("#requests .empty a").AttrOr("href", "") != v.Path {
		t.Error("the filter cannot be cleared")
	}
}

func TestSourceSecrets(t *testing.T) {
	t.Parallel()
	ends := noon.Add(time.Hour)
	v := page.Source{
		Frame: framed(), SourceHead: head("github", "x"), Now: noon, CreatedAt: noon,
		Secrets: []page.SourceSecret{{CreatedAt: noon}, {CreatedAt: noon, EndsAt: &ends}},
	}
	d := drawn(t, page.SourcePage(v))
	if d.Find("#secrets [data-s='current']").Length() != 1 || d.Find("#secrets [data-s='previous']").Length() != 1 || d.Find("#secrets [data-left='3600']").Length() != 1 {
		t.Errorf("%s", d.Find("#secrets").Text())
	}
	if d.Find("#secrets a").Length() != 0 {
		t.Error("a member is offered to change the secret")
	}
	v.Secrets = nil
	if d := drawn(t, page.SourcePage(v)); !strings.Contains(d.Find("#secrets").Text(), "every request is refused") {
		t.Error("no secret, and the page does not say so")
	}
}

func TestSourcePageSaysWhenTheLastEventCame(t *testing.T) {
	t.Parallel()
	for since, want := range map[time.Duration]string{
		0: "Last event just now", time.Second: "Last event just now", 5 * time.Second: "Last event 5 s ago", 5 * time.Minute: "Last event 5 m ago",
	} {
		at := noon.Add(-since)
		v := page.Source{Frame: framed(), SourceHead: head("stripe", "Shop"), Now: noon, CreatedAt: noon, Counts: page.SourceCounts{LastEvent: &at}}
		if text := words(drawn(t, page.SourcePage(v)).Find("#numbers")); !strings.Contains(text, want) {
			t.Errorf("%v later: %q", since, text)
		}
	}
}

func TestSourceRequestPage(t *testing.T) {
	t.Parallel()
	skew := -90 * time.Second
	v := page.SourceRequest{
		Frame: framed(), Source: head("github", "x"), Now: noon, Cause: "timestamp_out_of_range", Skew: &skew,
		Method: "POST", Headers: []component.Header{{Name: "Host", Value: "x"}}, Body: []byte("abc"), Size: 4, At: noon,
	}
	d := drawn(t, page.SourceRequestPage(v))
	if !strings.Contains(d.Find("#skew").Text(), "1m 30s behind") || d.Find("#headers dt").Length() != 1 || !strings.Contains(d.Find("#body").Text(), "the first 3 B of 4 B") {
		t.Errorf("%s", d.Find("main").Text())
	}
	v = page.SourceRequest{Frame: framed(), Source: head("github", "x"), Now: noon, Cause: "duplicate", Differs: true, EventHref: "/a/acme/events/evt_1", At: noon}
	d = drawn(t, page.SourceRequestPage(v))
	if d.Find("#why [data-tone='warn'], #why .callout[data-tone='warn']").Length() == 0 || d.Find("a[href='/a/acme/events/evt_1']").Length() != 1 {
		t.Errorf("%s", d.Find("main").Text())
	}
}

func TestSourceForm(t *testing.T) {
	t.Parallel()
	shelf := page.KindGroup{Name: "Code", Kinds: []page.SourceKind{kindCalled("github"), kindCalled("hmac")}}
	if d := drawn(t, page.SourceCatalogue(page.Catalogue{Frame: framed(), Groups: []page.KindGroup{shelf}})); d.Find(".kinds a").Length() != 2 || d.Find("#find-kind").Length() != 1 {
		t.Error("there is nothing to choose from")
	}
	if d := drawn(t, page.SourceCatalogue(page.Catalogue{Frame: framed(), Search: hostile})); d.Find("#none-found a[href$='?kind=hmac']").Length() != 1 {
		t.Error("who finds nothing is not helped")
	}
	for _, text := range []string{`<b>`, `"quoted"`} {
		chosen := map[string]string{"name": text, "header": text, "signed": text, "uid": text, "secret": "hunter2"}
		d := drawn(t, page.SourceFormPage(page.SourceForm{Frame: framed(), Kind: kindCalled("hmac"), Chosen: chosen, Errors: page.Errors{"header": text, "": text}}))
		if d.Find("#name").AttrOr("value", "") != text || d.Find("#header-error").Length() != 1 || strings.Contains(d.Text(), "hunter2") || d.Find("[value='hunter2']").Length() != 0 {
			t.Error("the form loses what was entered, or shows the secret")
		}
	}
	edit := page.SourceForm{Frame: framed(), Path: "/a/acme/sources/src_1", Kind: kindCalled("github")}
	if d := drawn(t, page.SourceFormPage(edit)); d.Find("#secret, #tolerance, [name='kind']").Length() != 0 || d.Find("#source-form").AttrOr("action", "") != "/a/acme/sources/src_1/edit" {
		t.Error("an edit asks for what is chosen once")
	}
}

func TestSourceQuestions(t *testing.T) {
	t.Parallel()
	older := noon.Add(time.Minute)
	a := page.SourceAsk{Source: head("github", hostile), Now: noon, Older: &older, Heading: true}
	for _, question := range []templ.Component{page.SourceDeleteAsk(a), page.SourceRotateAsk(a)} {
		d := drawn(t, question)
		if d.Find("form[method='post'] h1").Length() != 1 || d.Find("form button[type='submit']").Length() != 1 {
			t.Errorf("%s", d.Text())
		}
	}
	if d := drawn(t, page.SourceRotateAsk(a)); d.Find("[data-left='60']").Length() != 1 || d.Find("#overlap option[selected]").AttrOr("value", "") != "24h" {
		t.Errorf("%s", d.Text())
	}
}

// A source without a secret says so wherever it stands.
func TestSourceWithoutItsSecret(t *testing.T) {
	t.Parallel()
	v := page.Source{Frame: framed(), SourceHead: head("stripe", "Shop"), Now: noon, CreatedAt: noon, Waiting: true, Manages: true, Operates: true}
	v.Bereft = true
	d := drawn(t, page.SourcePage(v))
	if !strings.Contains(d.Find("h1").Text(), "Secret missing") || d.Find("#bereft a[href$='/rotate'][data-variant='primary']").Length() != 1 || d.Find("#protects .text-ok").Length() != 0 {
		t.Errorf("%s", words(d.Find("main")))
	}
	list := page.Sources{Frame: framed(), Now: noon, Rows: []page.SourceRow{{SourceHead: v.SourceHead}}}
	if row := words(drawn(t, page.SourcesPage(list)).Find("#sources tbody tr")); !strings.Contains(row, "Secret missing") || strings.Contains(row, "Active") {
		t.Errorf("the list: %s", row)
	}
	ask := drawn(t, page.SourceRotateAsk(page.SourceAsk{Source: v.SourceHead, Now: noon}))
	if ask.Find("select#overlap").Length() != 0 || ask.Find("[name='overlap']").Length() != 1 {
		t.Error("it is asked for how long nothing is to be kept")
	}
}

// The address to enter at the sender is the public one, where there is one.
func TestSourceShowsItsPublicURL(t *testing.T) {
	t.Parallel()
	const public = "https://edge.example.com/hooks"
	v := page.Source{Frame: framed(), SourceHead: head("stripe", "Shop"), Now: noon, CreatedAt: noon, Waiting: true, Manages: true, Operates: true}
	v.PublicURL = public
	d := drawn(t, page.SourcePage(v))
	if d.Find("#waiting .secret [data-copy]").AttrOr("data-copy", "") != public || !strings.Contains(words(d.Find("#waiting")), "Forwarded to "+v.URL) {
		t.Errorf("%s", words(d.Find("#waiting")))
	}
	if d.Find(".head .secret").Length() != 0 {
		t.Error("the address stands there twice")
	}
	v.Waiting = false
	if got := drawn(t, page.SourcePage(v)).Find(".head .secret [data-copy]").AttrOr("data-copy", ""); got != public {
		t.Errorf("the head has %q", got)
	}
	list := page.Sources{Frame: framed(), Now: noon, Rows: []page.SourceRow{{SourceHead: v.SourceHead}}}
	if got := drawn(t, page.SourcesPage(list)).Find("#sources [data-copy]").AttrOr("data-copy", ""); got != public {
		t.Errorf("the list has %q", got)
	}
}
