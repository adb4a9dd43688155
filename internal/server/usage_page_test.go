package server_test

import (
	"encoding/csv"
	"net/http"
	"strings"
	"testing"
)

func TestUsagePage(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	p := w.get(w.home + "/usage")
	if p.Find("#nothing").Length() != 1 || p.Find("svg[role=img]").Length() != 0 || p.Find("a[aria-label='Previous month'], a[aria-label='Next month']").Length() != 0 {
		t.Errorf("a new account: %s", words(p, "main"))
	}
	n := w.tenant()
	for range 3 {
		w.process(t, text(n.must(202, http.MethodPost, "/events", `{"type":"a","data":12345}`), "id"))
	}
	now := w.clock.Now().UTC()
	p = w.get(w.home + "/usage")
	if got := words(p, "#meters"); !strings.HasPrefix(got, "Events 3 ") || !strings.Contains(got, "Deliveries 0 ") || !strings.Contains(got, "Payloads 15 B") {
		t.Errorf("the meters say %q", got)
	}
	if p.Find("#days tbody tr").Length() != now.Day() || words(p, "#days tbody tr:last-child") != now.Format("2 Jan")+" 3 0 15 B" || words(p, "#days tfoot") != now.Format("January 2006")+" 3 0 15 B" {
		t.Errorf("%d days, the last %q, all %q", p.Find("#days tbody tr").Length(), words(p, "#days tbody tr:last-child"), words(p, "#days tfoot"))
	}
	if label := p.Find("#per-day-events svg").AttrOr("aria-label", ""); label != "Events per day: 3 events. A table follows." {
		t.Errorf("the chart is described as %q", label)
	}
	file := w.get(p.Find("main a[href*='/usage/csv']").AttrOr("href", ""))
	file.wantStatus(http.StatusOK)
	rows, err := csv.NewReader(strings.NewReader(file.text)).ReadAll()
	if err != nil || len(rows) != 1+now.Day() || strings.Join(rows[now.Day()], ",") != now.Format("2006-01-02")+",3,0,15" {
		t.Errorf("%v %v", rows, err)
	}
	if got := file.header.Get("Content-Disposition"); got != `attachment; filename="usage-`+now.Format("2006-01")+`.csv"` {
		t.Errorf("the file is %q", got)
	}
}

// Months lead to each other, from the account's first to the present one; what
// names no month that has begun shows the present one.
func TestUsageOfOtherMonths(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages).signedUp(t, "Acme")
	now := w.clock.Now().UTC()
	p := w.get(w.home + "/usage?month=2024-02")
	if !strings.Contains(words(p, ".lede"), "February 2024") || p.Find("a[aria-label='Previous month']").Length() != 0 {
		t.Errorf("%s", words(p, "main"))
	}
	p = w.get(p.Find("a[aria-label='Next month']").AttrOr("href", ""))
	if !strings.Contains(words(p, ".lede"), "March 2024, in UTC") {
		t.Errorf("%s", words(p, "main"))
	}
	for _, month := range []string{"", "x", "2024-13", now.AddDate(0, 2, 0).Format("2006-01"), "0000-01"} {
		p := w.get(w.home + "/usage?month=" + month)
		if want := now.Format("January 2006") + " so far"; !strings.Contains(words(p, ".lede"), want) {
			t.Errorf("%q shows %q", month, words(p, ".lede"))
		}
	}
	if got := w.get(w.home + "/usage/csv?month=2024-02").text; strings.Count(got, "\n") != 30 || !strings.HasSuffix(got, "2024-02-29,0,0,0\n") {
		t.Errorf("the file says %q", got)
	}
}
