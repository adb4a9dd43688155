package component_test

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/web/component"
)

// number reads a coordinate, which has to be finite.
func number(t *testing.T, s *goquery.Selection, name string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(attr(s, name), 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		t.Fatalf("%s = %q", name, attr(s, name))
	}
	return v
}

func TestStackChart(t *testing.T) {
	t.Parallel()
	doc := render(t, component.StackChart{Title: "Deliveries over time", Marks: []string{"a", "b"}, Bins: []component.Bin{
		{Label: "16:00 UTC", OK: 1200, Retry: 30, Bad: 4}, {Label: "17:00 UTC"}, {Label: "18|00", Bad: 1, Href: "/events?x=1&y=2"},
	}})
	svg := one(t, doc, `svg[role="group"]`)
	if got, want := attr(svg, "aria-label"), "Deliveries over time: 1,200 delivered, 30 retried, 5 failed. A table follows."; got != want {
		t.Errorf("label = %q, want %q", got, want)
	}
	var tips []string
	doc.Find("[data-tip]").Each(func(_ int, s *goquery.Selection) { tips = append(tips, attr(s, "data-tip")) })
	want := []string{
		"16:00 UTC|Delivered|1,200|Retried|30|Failed|4", "17:00 UTC|Delivered|0|Retried|0|Failed|0", "18¦00|Delivered|0|Retried|0|Failed|1",
	}
	if diff := cmp.Diff(want, tips); diff != "" {
		t.Errorf("tips (-want +got):\n%s", diff)
	}
	if got := doc.Find("rect.f-ok, rect.f-retry, rect.f-bad").Length(); got != 4 {
		t.Errorf("%d parts of bars, want 4: what is zero is not drawn", got)
	}
	if got := attr(one(t, doc, `a.bin[href="/events?x=1&y=2"]`), "aria-label"); got != "18|00: 0 delivered, 0 retried, 1 failed" {
		t.Errorf("a bar that leads somewhere says %q", got)
	}
	if got := doc.Find("details tbody tr").Length(); got != 3 {
		t.Errorf("the table has %d rows, want 3", got)
	}
	doc.Find("svg rect").Each(func(_ int, r *goquery.Selection) {
		y, height := number(t, r, "y"), number(t, r, "height")
		x, width := number(t, r, "x"), number(t, r, "width")
		if y < -5 || y+height > 200.1 || x < 0 || x+width > 1000.1 {
			t.Errorf("a rectangle is outside: %v %v %v %v", x, y, width, height)
		}
	})
}

func TestStackChartOfFewAndOfNothing(t *testing.T) {
	t.Parallel()
	empty := render(t, component.StackChart{Title: "Events"})
	if empty.Find("svg, table").Length() != 0 || !strings.Contains(empty.Text(), "Nothing") {
		t.Error("a chart of nothing does not say so")
	}
	zeros := render(t, component.StackChart{Title: "Events", Bins: make([]component.Bin, 3)})
	if zeros.Find("rect:not(.hit)").Length() != 0 {
		t.Error("zeros are drawn")
	}
	var scale []string
	zeros.Find(".chart-y span").Each(func(_ int, s *goquery.Selection) { scale = append(scale, s.Text()) })
	if diff := cmp.Diff([]string{"4", "3", "2", "1", "0"}, scale); diff != "" {
		t.Errorf("scale of zeros (-want +got):\n%s", diff)
	}
	single := render(t, component.StackChart{Title: "Events", Names: component.SeriesNames{OK: "Events"}, NoTable: true, Bins: []component.Bin{{Label: "today", OK: 7, Bad: 3}}})
	bar := one(t, single, "rect:not(.hit)")
	if width := number(t, bar, "width"); width > 60 {
		t.Errorf("a single bar is %v wide", width)
	}
	one(t, single, `svg[role="img"]`)
	plain := render(t, component.StackChart{Title: "Events", Names: component.SeriesNames{OK: "Events", Plain: true}, Bins: []component.Bin{{OK: 7, Bad: 3}}})
	if plain.Find("rect.f-plain").Length() != 1 || plain.Find("rect.f-ok, rect.f-bad").Length() != 0 {
		t.Error("what is neither good nor bad has a colour that says so")
	}
	if tip := attr(one(t, single, "[data-tip]"), "data-tip"); tip != "today|Events|7" {
		t.Errorf("tip = %q", tip)
	}
	if single.Find("table").Length() != 0 {
		t.Error("there is a table")
	}
}

func TestRoundTop(t *testing.T) {
	t.Parallel()
	for give, want := range map[int]int{0: 4, 1: 4, 4: 4, 5: 8, 13: 16, 25: 32, 33: 40, 2505: 3200, 50000: 80000, 1 << 40: 1_200_000_000_000} {
		if got := component.RoundTop(give); got != want {
			t.Errorf("RoundTop(%d) = %d, want %d", give, got, want)
		}
	}
	if got := component.RoundTop(math.MaxInt); got <= 0 {
		t.Errorf("RoundTop of the largest number = %d", got)
	}
}

func TestLegend(t *testing.T) {
	t.Parallel()
	doc := render(t, component.Legend(component.SeriesNames{}, component.SampleBins()))
	if got := doc.Find("[data-k] b").Length(); got != 3 {
		t.Errorf("%d sums, want 3", got)
	}
}

func TestSparkline(t *testing.T) {
	t.Parallel()
	if got := markup(t, component.Sparkline{}); got != "" {
		t.Errorf("a line through nothing is %q", got)
	}
	for name, values := range map[string][]float64{
		"one": {5}, "equal": {3, 3, 3}, "zeros": {0, 0}, "negative": {-1, 4}, "many": {1, 2, 3, 4, 5, 6, 7, 8},
	} {
		doc := render(t, component.Sparkline{Values: values, FromZero: true, Label: "Rising"})
		one(t, doc, `svg[role="img"][aria-label="Rising"]`)
		points := strings.Fields(attr(one(t, doc, "polyline"), "points"))
		if len(points) < 2 {
			t.Errorf("%s: %d points", name, len(points))
		}
		for _, point := range points {
			if strings.Contains(point, "NaN") || strings.Contains(point, "Inf") {
				t.Errorf("%s: point %s", name, point)
			}
		}
	}
	one(t, render(t, component.Sparkline{Values: []float64{1, 2}}), `svg[aria-hidden="true"]`)
}

func TestTicks(t *testing.T) {
	t.Parallel()
	if got := markup(t, component.Ticks(nil, "x")); got != "" {
		t.Errorf("no ticks are %q", got)
	}
	doc := render(t, component.Ticks([]string{"ok", "bad", "warn", "none", `"><script>`}, "Last 5"))
	for class, want := range map[string]int{"rect.t-ok": 1, "rect.t-bad": 1, "rect.t-warn": 1, "rect.t-none": 2} {
		if got := doc.Find(class).Length(); got != want {
			t.Errorf("%d %s, want %d", got, class, want)
		}
	}
	if got := attr(one(t, doc, "svg"), "aria-label"); got != "Last 5" {
		t.Errorf("label = %q", got)
	}
}

func TestMeterStaysWithinItsBounds(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ value, whole, want float64 }{{1, 4, 25}, {0, 4, 0}, {9, 4, 100}, {-1, 4, 0}, {1, 0, 0}} {
		if got := number(t, one(t, render(t, component.Meter(tt.value, tt.whole, "")), "rect"), "width"); got != tt.want {
			t.Errorf("Meter(%v of %v) is %v wide, want %v", tt.value, tt.whole, got, tt.want)
		}
	}
}
