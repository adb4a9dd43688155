package main

import (
	"fmt"
	"html"
	"strings"

	"github.com/rowlock/rowlock/internal/bench/load"
)

// chart is bars, one below the other, of one unit.
type chart struct {
	title, unit string
	bars        []bar
}

// bar is one figure; the floor's and others' are paler than ours.
type bar struct {
	name  string
	value float64
	pale  bool
}

// Sizes of a chart in pixels.
const (
	chartWidth  = 760
	nameWidth   = 260
	valueWidth  = 90
	barHeight   = 18
	barDistance = 26
	chartTop    = 44
)

// svg draws it in colours that can be read on light and on dark.
func (c chart) svg() string {
	most := 0.0
	for _, b := range c.bars {
		most = max(most, b.value)
	}
	var s strings.Builder
	height := chartTop + len(c.bars)*barDistance + 8
	fmt.Fprintf(&s, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" font-family="system-ui, sans-serif" font-size="13">`+"\n",
		chartWidth, height, chartWidth, height)
	fmt.Fprintf(&s, "<title>%s</title>\n<style>text{fill:#1f2937}.pale{fill:#9ca3af}.ours{fill:#4f46e5}@media(prefers-color-scheme:dark){text{fill:#e5e7eb}.pale{fill:#6b7280}.ours{fill:#818cf8}}</style>\n", html.EscapeString(c.title))
	fmt.Fprintf(&s, `<text x="0" y="20" font-weight="600">%s</text>`+"\n", html.EscapeString(c.title))
	for i, b := range c.bars {
		y := chartTop + i*barDistance
		width := 0.0
		if most > 0 {
			width = b.value / most * (chartWidth - nameWidth - valueWidth)
		}
		class := "ours"
		if b.pale {
			class = "pale"
		}
		fmt.Fprintf(&s, `<text x="%d" y="%d" text-anchor="end">%s</text><rect class="%s" x="%d" y="%d" width="%.1f" height="%d" rx="3"/><text x="%.1f" y="%d">%s %s</text>`+"\n",
			nameWidth-10, y+13, html.EscapeString(b.name), class, nameWidth, y, width, barHeight, nameWidth+width+8, y+13, figure(b.value), html.EscapeString(c.unit))
	}
	s.WriteString("</svg>\n")
	return s.String()
}

// figure writes a number with the digits that mean something.
func figure(x float64) string {
	switch {
	case x >= 100:
		return grouped(fmt.Sprintf("%.0f", x))
	case x >= 10:
		return fmt.Sprintf("%.1f", x)
	default:
		return fmt.Sprintf("%.2f", x)
	}
}

// grouped puts a comma before each three digits.
func grouped(digits string) string {
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// charts are the pictures of a report, by the names of their files.
func charts(r load.Report) map[string]chart {
	accept := chart{title: "Events kept by a commit before they are answered", unit: "/s"}
	for i, x := range r.Accept {
		name := fmt.Sprintf("over %d connections", x.Connections)
		accept.bars = append(accept.bars, bar{"Rowlock " + name, x.PerSecond, false})
		if i < len(r.Floor.Commit) {
			accept.bars = append(accept.bars, bar{"rows committed one by one", r.Floor.Commit[i].PerSecond, true})
		}
		if i < len(r.Floor.Group) {
			accept.bars = append(accept.bars, bar{"rows committed together", r.Floor.Group[i].PerSecond, true})
		}
	}
	all := map[string]chart{
		"accept.svg": accept,
		"deliver.svg": {"Deliveries, from publishing to arriving", "/s", []bar{
			{"HTTP exchanges alone", r.Echo(), true},
			{"to one endpoint", r.OneEndpoint.PerSecond, false},
			{"to ten endpoints", r.FanOut.PerSecond, false},
		}},
	}
	if len(r.Endpoints) > 0 {
		grow := chart{title: "Processor time of server and database for 10,000 deliveries", unit: "s"}
		for _, f := range r.Endpoints {
			grow.bars = append(grow.bars, bar{fmt.Sprintf("an event to %d endpoints", f.Endpoints), f.Cost.CPU(), false})
		}
		for _, f := range r.Sizes {
			grow.bars = append(grow.bars, bar{fmt.Sprintf("bodies of %d KiB", f.BodySize>>10), f.Cost.CPU(), true})
		}
		all["cost.svg"] = grow
	}
	return all
}
