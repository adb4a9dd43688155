package page_test

import (
	"strings"
	"testing"
	"time"

	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/page"
)

// consoleOf is the page of a source's test console.
func consoleOf(kind string, tried *page.ConsoleTrial) page.SourceConsole {
	return page.SourceConsole{
		Frame: framed(), Source: head(kind, hostile), Faults: []string{"none", "wrong_secret", "altered", "old", "unsigned"},
		Protects: "The body is signed.", Chosen: map[string]string{"fault": "altered", "body": hostile, "headers": hostile}, Tried: tried,
	}
}

func TestSourceConsoleBeforeATrial(t *testing.T) {
	t.Parallel()
	v := consoleOf("stripe", nil)
	d := drawn(t, page.SourceConsolePage(v))
	if got := d.Find("#fault option[selected]").AttrOr("value", ""); got != "altered" {
		t.Errorf("chosen is %q", got)
	}
	if d.Find("#console button[name='send']").Length() != 1 || !strings.Contains(d.Find("#steps").Text(), "newest secret") {
		t.Errorf("%s", d.Find("main").Text())
	}
	v.CheckOnly, v.Source.Kind.Public = true, true
	d = drawn(t, page.SourceConsolePage(v))
	if d.Find("#console button[name='send']").Length() != 0 || d.Find("#console button[type='submit']").Length() != 1 || !strings.Contains(d.Find("#steps").Text(), "private half") {
		t.Errorf("%s", d.Find("main").Text())
	}
}

func TestSourceConsoleAfterATrial(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	event := page.ConsoleEvent{Type: hostile, Key: hostile}
	stored := page.ConsoleEvent{Type: "a.b", Key: "k", Href: "/a/acme/events/evt_1"}
	repeat := page.ConsoleEvent{Type: "a.b", Href: "/a/acme/events/evt_1", Duplicate: true}
	for name, tt := range map[string]struct {
		tried page.ConsoleTrial
		says  []string
		not   []string
	}{
		"checked":    {page.ConsoleTrial{Fault: "none", By: "source", Status: 200, Events: []page.ConsoleEvent{event}}, []string{"Would be 1 event", "would be told 200", "Verified"}, []string{"Stored"}},
		"sent":       {page.ConsoleTrial{Sent: true, Fault: "none", By: "source", Status: 200, Events: []page.ConsoleEvent{stored}, More: 2}, []string{"Stored: 3 events", "and 2 more", "is told 200"}, []string{"nothing stored"}},
		"a repeat":   {page.ConsoleTrial{Sent: true, Fault: "none", By: "source", Status: 200, Events: []page.ConsoleEvent{repeat}}, []string{"A repeat", "Nothing tells repeats"}, []string{"Stored"}},
		"refused":    {page.ConsoleTrial{Sent: true, Fault: "wrong_secret", By: "stranger", Cause: "signature_mismatch", Detail: hostile, Status: 401, RequestHref: "/x"}, []string{"Refused: wrong signature", "You find it", "Compare the “Secret”", "is told 401"}, []string{"Verified"}},
		"too old":    {page.ConsoleTrial{Fault: "old", By: "source", SignedAt: &at, SignedIn: []string{"X-Time"}, Cause: "timestamp_out_of_range", Status: 401}, []string{"In X-Time. Signed as of 03:04:05 UTC", "Sent in, it would stand"}, nil},
		"unnoticed":  {page.ConsoleTrial{Fault: "altered", By: "source", InBody: true, Status: 202, Events: []page.ConsoleEvent{event}}, []string{"In the body. Then one byte", "Taken all the same", "told 202"}, []string{"Verified"}},
		"handshake":  {page.ConsoleTrial{Fault: "none", By: "source", Handshake: hostile, Status: 200, Answer: hostile}, []string{"No event"}, []string{"Would be"}},
		"not signed": {page.ConsoleTrial{Fault: "unsigned", By: "nobody", Cause: "signature_missing", Status: 401}, []string{"Not signed", "Refused: no signature"}, nil},
	} {
		tt.tried.Headers = []component.Header{{Name: hostile, Value: hostile}}
		tt.tried.Method, tt.tried.Body = "POST", []byte(hostile)
		text := strings.Join(strings.Fields(drawn(t, page.SourceConsolePage(consoleOf("stripe", &tt.tried))).Find("#steps").Text()), " ")
		for _, want := range tt.says {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %q in %s", name, want, text)
			}
		}
		for _, not := range tt.not {
			if strings.Contains(text, not) {
				t.Errorf("%s: %q in %s", name, not, text)
			}
		}
	}
}
