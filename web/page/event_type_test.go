package page_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/page"
)

func TestEventTypesPage(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		view page.EventTypes
		want string
	}{
		"nothing, for who may declare": {page.EventTypes{Manages: true, New: "/new"}, "No event types declared"},
		"nothing, for who may not":     {page.EventTypes{New: "/new"}, "An admin or an owner"},
		"behind the last":              {page.EventTypes{First: "/first"}, "These were the last"},
	} {
		tt.view.Frame = framed()
		d := drawn(t, page.EventTypesPage(tt.view))
		if !strings.Contains(d.Find("#event-types").Text(), tt.want) || d.Find("a[href='/new']").Length() > 0 != tt.view.Manages {
			t.Errorf("%s: %q", name, d.Find("main").Text())
		}
	}
	d := drawn(t, page.EventTypesPage(page.EventTypes{
		Frame: framed(), Manages: true, New: "/new", First: "/first", Next: "/next",
		Rows:       []page.EventTypeRow{{EventType: gateway.EventType{Name: "a", Description: "One.\nTwo.", Schema: []byte("true"), SingleFire: true}, Path: "/a", Count: "999+"}, {Path: "/b"}},
		Undeclared: []page.UndeclaredType{{Name: hostile, Declare: "/declare", Events: "/seen"}},
	}))
	row := d.Find("#event-types tbody tr").First().Text()
	if !strings.Contains(row, "single-fire") || !strings.Contains(row, "One.") || strings.Contains(row, "Two.") || !strings.Contains(row, "999+") {
		t.Errorf("the row says %q", row)
	}
	if d.Find("a[rel=next]").AttrOr("href", "") != "/next" || d.Find("#undeclared a[href='/declare']").Length() != 1 {
		t.Error("the next part, or the form of what is not declared, is not linked")
	}
}

func TestEventTypePageSaysWhatADoubtMeans(t *testing.T) {
	t.Parallel()
	for want, declared := range map[string]gateway.EventType{
		"Each event is delivered.":        {OnDoubt: gateway.OnDoubtHold},
		"waits for a person":              {SingleFire: true, OnDoubt: gateway.OnDoubtHold},
		"under the same Idempotency-Key.": {SingleFire: true, OnDoubt: gateway.OnDoubtResend},
	} {
		d := drawn(t, page.EventTypePage(page.EventType{Frame: framed(), Now: noon, Type: declared, Path: "/t"}))
		if got := d.Find("#fires").Text(); !strings.Contains(got, want) || d.Find("a[href='/t/edit']").Length() != 0 {
			t.Errorf("%q, want %q and nothing to change", got, want)
		}
	}
}

func TestCountText(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "999+"} {
		if got := page.CountText(n, 1000); got != want {
			t.Errorf("%d of 1000: %q", n, got)
		}
	}
	if got := page.JoinExamples([]json.RawMessage{json.RawMessage(`{}`), json.RawMessage(`1`)}); got != "{}\n1" {
		t.Errorf("%q", got)
	}
}
