package page_test

import (
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"

	"github.com/rowlock/rowlock/web/page"
)

// used is a month of so many days, the last of which has numbers.
func used(days int) page.Usage {
	v := page.Usage{Frame: framed(), Month: "November 2026", CSV: "/csv"}
	for i := range days {
		v.Days = append(v.Days, page.UsageDay{Day: time.Date(2026, 11, 1+i, 0, 0, 0, 0, time.UTC)})
	}
	if days > 0 {
		v.Days[days-1].Events, v.Days[days-1].Deliveries, v.Days[days-1].Bytes = 12345, 7, 1500
	}
	return v
}

func TestUsagePageOfSomeDays(t *testing.T) {
	t.Parallel()
	for days, marks := range map[int]string{1: "1 Nov", 2: "1 Nov 2 Nov", 13: "1 Nov 13 Nov", 30: "1 Nov 8 Nov 15 Nov 22 Nov 30 Nov"} {
		d := drawn(t, page.UsagePage(used(days)))
		var below []string
		d.Find("#per-day-events .chart-x span").Each(func(_ int, s *goquery.Selection) { below = append(below, s.Text()) })
		if got := strings.Join(below, " "); got != marks {
			t.Errorf("%d days: below the chart stands %q, want %q", days, got, marks)
		}
		if n := d.Find("#per-day-deliveries .bin").Length(); n != days || d.Find("#days tbody tr").Length() != days {
			t.Errorf("%d days: %d bars, %d rows", days, n, d.Find("#days tbody tr").Length())
		}
		total := d.Find("#days tfoot td")
		if total.Eq(0).Text() != "12,345" || total.Eq(1).Text() != "7" || total.Eq(2).Text() != "1.5 kB" {
			t.Errorf("%d days: in all %q", days, total.Text())
		}
	}
}

func TestUsagePageWithoutUse(t *testing.T) {
	t.Parallel()
	v := used(0)
	v.Previous = "/before"
	d := drawn(t, page.UsagePage(v))
	if d.Find("#nothing").Length() != 1 || d.Find("svg[role=img], #days").Length() != 0 {
		t.Error("without use there are charts")
	}
	if d.Find("a[aria-label='Previous month']").AttrOr("href", "") != "/before" || d.Find("a[aria-label='Next month']").Length() != 0 {
		t.Error("the months lead elsewhere")
	}
}
