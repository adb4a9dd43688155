package page_test

import (
	"fmt"
	"testing"
	"time"

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
