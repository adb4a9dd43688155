package page_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/page"
)

// eventRows are lines of a list in which a text from outside stands wherever
// one can.
func eventRows(n int, text string) []page.EventRow {
	rows := make([]page.EventRow, n)
	next := noon.Add(38 * time.Second)
	for i := range rows {
		rows[i] = page.EventRow{
			ID: fmt.Sprintf("evt_%d", i), Href: fmt.Sprintf("/a/acme/events/evt_%d", i), Type: text, Status: "retrying",
			Source: page.SourceRef{Name: text, Kind: "stripe"}, Done: 3, Total: 4, Note: text, NextAt: &next, ReceivedAt: noon, Open: i == 0,
		}
	}
	return rows
}

func TestEventsPage(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 50} {
		d := drawn(t, page.EventsPage(page.Events{
			Frame: framed(), Now: noon, Rows: eventRows(n, "order.created"), Type: page.TextFilter{Name: "type"}, Subject: page.TextFilter{Name: "subject"}, Key: page.TextFilter{Name: "key"}, Period: page.Period{Label: "Received", Text: "Last 24 hours"},
		}))
		if got := d.Find("#events tbody tr").Length(); got != n {
			t.Errorf("%d rows are drawn as %d", n, got)
		}
		if empty := d.Find("#events .empty").Length() == 1; empty != (n == 0) {
			t.Errorf("%d rows, empty: %v", n, empty)
		}
		// What will change by itself is read anew, and what will not is not.
		if got := d.Find("#events td[data-live-refresh]").Length(); got != min(n, 1)*2 {
			t.Errorf("%d cells of %d rows are read anew", got, n)
		}
	}
}

func TestEventsPageOfNothing(t *testing.T) {
	t.Parallel()
	d := drawn(t, page.EventsPage(page.Events{Now: noon, None: true, Curl: "curl https://example.com", NewSource: "/s", NewEndpoint: "/e"}))
	if d.Find("#events[data-live-refresh='events'] pre").Text() == "" || d.Find("form.filters").Length() != 0 {
		t.Error("the page of an account without events does not say how to send the first")
	}
}

// A list that was not looked through to its end says how far, and leads on.
func TestEventsPageThatStopped(t *testing.T) {
	t.Parallel()
	looked := &page.Looked{Events: 12_345, Until: noon}
	for _, n := range []int{0, 3} {
		d := drawn(t, page.EventsPage(page.Events{Frame: framed(), Now: noon, Rows: eventRows(n, "a.b"), Looked: looked, Older: "/older", Clear: "/clear"}))
		if text := d.Find("#events").Text(); !strings.Contains(text, "Looked at 12,345 events, back to") || !strings.Contains(text, "Look further") {
			t.Errorf("%d rows: %q", n, text)
		}
		if d.Find("#events a[href='/older']").Length() != 1 {
			t.Errorf("%d rows: nothing leads on", n)
		}
	}
}

func TestEventsPageSaysWhatIsWrongWithASearch(t *testing.T) {
	t.Parallel()
	d := drawn(t, page.EventsPage(page.Events{Frame: framed(), Now: noon, Search: page.SearchField{Value: `$.a = "<`, Error: "Character 7: want <b>."}}))
	field := d.Find(".filters input[name='q']")
	if field.AttrOr("value", "") != `$.a = "<` || field.AttrOr("aria-invalid", "") != "true" || d.Find("#"+field.AttrOr("aria-describedby", "none")).Length() != 1 {
		t.Errorf("the field is %v", field.Nodes)
	}
	if text := d.Find("#q-error").Text(); !strings.Contains(text, "want <b>") || !strings.Contains(d.Find("#events").Text(), "Nothing was looked for") {
		t.Errorf("it says %q", text)
	}
}

// Each bar of the histogram leads to its time, without a script too.
func TestEventsPageHistogram(t *testing.T) {
	t.Parallel()
	chart := &page.EventChart{Title: "Events over this time", Names: component.SeriesNames{OK: "Events", Plain: true}, Marks: []string{"12:00", "13:00"}}
	for i := range 3 {
		chart.Bins = append(chart.Bins, component.Bin{Label: "12:00 UTC", OK: i, Href: fmt.Sprintf("/a/acme/events?since=%d", i)})
	}
	d := drawn(t, page.EventsPage(page.Events{Frame: framed(), Now: noon, Rows: eventRows(1, "a.b"), Chart: chart}))
	if got := d.Find("#histogram [data-zoom] a.bin[href^='/a/acme/events?since=']").Length(); got != 3 {
		t.Errorf("%d bars lead somewhere, want 3", got)
	}
	if label := d.Find("#histogram svg").AttrOr("aria-label", ""); !strings.Contains(label, "Events over this time: 3 events") {
		t.Errorf("it is told as %q", label)
	}
}

func TestEventsPageOffersWhatCanBeDone(t *testing.T) {
	t.Parallel()
	v := page.Events{Frame: framed(), Now: noon, Rows: eventRows(2, "a.b"), Bulk: page.EventBulk{Export: "/export", Exports: []component.Choice{{Text: "CSV table", Href: "/export?format=csv"}}}}
	d := drawn(t, page.EventsPage(v))
	if d.Find("[data-key='r']").Length() != 0 || d.Find("[data-key='p']").Length() != 2 || d.Find("a[href='/export?format=csv']").Length() != 1 {
		t.Error("who may change nothing is offered something else")
	}
	v.Bulk.Redeliver, v.Bulk.All, v.Save, v.Unsave = "/redeliver", "/redeliver?all=1", "/save", "/unsave"
	d = drawn(t, page.EventsPage(v))
	if d.Find("[data-key='r']").Length() != 3 || d.Find(".bulk a[href='/redeliver?all=1']").Length() != 1 || d.Find("a[href='/save'], a[href='/unsave']").Length() != 2 {
		t.Error("not all is offered")
	}
}
