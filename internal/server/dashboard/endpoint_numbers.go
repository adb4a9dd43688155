package dashboard

import (
	"net/url"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/page"
)

// chartSpan is a length of time that a chart can show: so many steps of a length.
type chartSpan struct {
	name  string
	steps int
	step  time.Duration
	title string
	// words are the length itself, and per a step's.
	words, per string
	// label and mark write the time of a bar, and of a mark below.
	label, mark string
	// marks is into how many parts the marks below divide it.
	marks int
}

// chartSpans are the lengths to choose from, and usualChartSpan the one nobody chose.
var (
	chartSpans = []chartSpan{
		{"1h", 60, time.Minute, "Last hour", "1 h", "minute", "15:04 UTC", "15:04", 4},
		{"24h", 96, 15 * time.Minute, "Last 24 hours", "24 h", "15 minutes", "15:04 UTC", "15:04", 6},
		{"7d", 84, 2 * time.Hour, "Last 7 days", "7 days", "2 hours", "2 Jan, 15:04 UTC", "2 Jan", 7},
		{"30d", 120, 6 * time.Hour, "Last 30 days", "30 days", "6 hours", "2 Jan, 15:04 UTC", "2 Jan", 5},
	}
	usualChartSpan = chartSpans[1]
)

// figures reads the address of a page with numbers and a chart.
func (v *visit) figures(known ...string) listing {
	return v.listing(v.Request().URL.EscapedPath(), known...)
}

// chartSpan is the length in the address.
func (l listing) chartSpan() chartSpan {
	for _, s := range chartSpans {
		if s.name == l.get(paramRange) {
			return s
		}
	}
	return usualChartSpan
}

// endpointNumbers adds up what happened in the chosen time and in the time
// before it.
func (v *visit) endpointNumbers(e gateway.Endpoint, l listing) (n page.EndpointNumbers, chart page.EndpointChart, err error) {
	chosen := l.chartSpan()
	window := store.LastSteps(l.now, chosen.steps, chosen.step)
	bins, err := v.d.Store.Series(v.ctx(), v.account(), &e.ID, window)
	if err != nil {
		return n, chart, err
	}
	during, err := v.d.Store.Totals(v.ctx(), v.account(), &e.ID, window)
	if err != nil {
		return n, chart, err
	}
	before, err := v.d.Store.Totals(v.ctx(), v.account(), &e.ID, window.Before())
	if err != nil {
		return n, chart, err
	}
	n = page.EndpointNumbers{
		Attempts: during.Attempts(), Succeeded: during.Succeeded, P95: during.P95(),
		BeforeAttempts: before.Attempts(), BeforeSucceeded: before.Succeeded, BeforeP95: before.P95(),
		GaveUp: during.GaveUp, BeforeGaveUp: before.GaveUp,
	}
	return n, l.chart(window, bins, func(since, until time.Time) string {
		return listing{path: v.at("attempts"), query: url.Values{paramEndpoint: {e.ID.String()}}}.between(since, until)
	}), nil
}

// chart draws what happened in a window of the length in the address. Each bar
// leads to what is in it.
func (l listing) chart(window store.Window, bins []store.Bin, to func(since, until time.Time) string) page.EndpointChart {
	chosen := l.chartSpan()
	chart := page.EndpointChart{Title: chosen.title, Range: chosen.words}
	for _, b := range bins {
		chart.Bins = append(chart.Bins, component.Bin{
			Label: b.At.UTC().Format(chosen.label), OK: int(b.Succeeded), Retry: int(b.Retried()), Bad: int(b.GaveUp),
			Href: to(b.At, b.At.Add(window.Step)),
		})
	}
	chart.Marks = marksOf(window.Since, window.Until, chosen.marks, chosen.mark)
	for _, s := range chartSpans {
		chart.Ranges = append(chart.Ranges, component.Choice{Text: s.name, Href: l.with(paramRange, s.name), Current: s.name == chosen.name})
	}
	return chart
}
