package component

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// Bin is one bar of a chart: what happened within one piece of time.
type Bin struct {
	// Label is the piece of time: "16:30 UTC".
	Label          string
	OK, Retry, Bad int
	// Href leads to what the bar counts; empty for nowhere.
	Href string
}

func (b Bin) total() int { return b.OK + b.Retry + b.Bad }

// SeriesNames say what the three parts of a bar count. The zero value is
// deliveries: "Delivered", "Retried", "Failed". A part whose name is empty
// while others have names is not shown.
type SeriesNames struct {
	OK, Retry, Bad string
	// Plain counts what is neither good nor bad: OK alone is shown, in a colour
	// that says nothing of how it went.
	Plain bool
}

// deliveries are the names of the usual chart.
var deliveries = SeriesNames{OK: "Delivered", Retry: "Retried", Bad: "Failed"}

// series is one part of all bars.
type series struct {
	key, name string
	value     func(Bin) int
}

// list returns the parts that are shown, from below.
func (n SeriesNames) list() []series {
	if n == (SeriesNames{}) {
		n = deliveries
	}
	if n.Plain {
		return []series{{"plain", n.OK, func(b Bin) int { return b.OK }}}
	}
	var shown []series
	for _, s := range []series{
		{"ok", n.OK, func(b Bin) int { return b.OK }},
		{"retry", n.Retry, func(b Bin) int { return b.Retry }},
		{"bad", n.Bad, func(b Bin) int { return b.Bad }},
	} {
		if s.name != "" {
			shown = append(shown, s)
		}
	}
	return shown
}

// sum adds a part up over all bars.
func (s series) sum(bins []Bin) int {
	total := 0
	for _, b := range bins {
		total += s.value(b)
	}
	return total
}

// sentence says what a chart shows, for those who do not see it.
func (c StackChart) sentence() string {
	parts := make([]string, 0, 3)
	for _, s := range c.Names.list() {
		parts = append(parts, Number(s.sum(c.Bins))+" "+strings.ToLower(s.name))
	}
	return Visible(c.Title) + ": " + strings.Join(parts, ", ") + ". A table follows."
}

// role is that of a picture, or of several links.
func (c StackChart) role() string {
	if slices.ContainsFunc(c.Bins, func(b Bin) bool { return b.Href != "" }) {
		return "group"
	}
	return "img"
}

// says is what a bar that leads somewhere says to those who do not see it.
func (c StackChart) says(b Bin) string {
	parts := make([]string, 0, 3)
	for _, s := range c.Names.list() {
		parts = append(parts, Number(s.value(b))+" "+strings.ToLower(s.name))
	}
	return Visible(b.Label) + ": " + strings.Join(parts, ", ")
}

// tip is what the pointer finds at a bar: its label, then names and values.
func (c StackChart) tip(b Bin) string {
	parts := []string{tipText(b.Label)}
	for _, s := range c.Names.list() {
		parts = append(parts, tipText(s.name), Number(s.value(b)))
	}
	return strings.Join(parts, tipSeparator)
}

// tipSeparator parts the texts of a tip; app.js splits at it.
const tipSeparator = "|"

func tipText(s string) string { return strings.ReplaceAll(Visible(s), tipSeparator, "¦") }

// The chart's own coordinates; the style sheet gives it its size.
const (
	chartWidth  = 1000.0
	chartHeight = 200.0
	// chartLines is into how many parts the height is divided.
	chartLines = 4
	// barShare is how much of its place a bar takes, and widestBar how much it
	// takes at the most where there are few.
	barShare  = 0.78
	widestBar = 60.0
	// lowestBar keeps a single event visible beside thousands.
	lowestBar = 1.5
)

// rect is a rectangle in a drawing.
type rect struct {
	class               string
	x, y, width, height float64
}

// top is the round number at the upper end of the vertical axis: at least the
// highest bar, and a multiple of chartLines.
func (c StackChart) top() int {
	highest := 0
	for _, b := range c.Bins {
		highest = max(highest, b.total())
	}
	return roundTop(highest)
}

// roundTop finds the next number of which a quarter is round.
func roundTop(highest int) int {
	for scale := 1; ; scale *= 10 {
		for _, step := range []int{1, 2, 3, 4, 5, 6, 8} {
			top := chartLines * step * scale
			if top >= highest || scale > math.MaxInt/1000 {
				return top
			}
		}
	}
}

// bars are the parts of the nth bar, from below.
func (c StackChart) bars(n, top int) []rect {
	place := chartWidth / float64(len(c.Bins))
	width := min(place*barShare, widestBar)
	x := (float64(n)+0.5)*place - width/2
	y := chartHeight
	var bars []rect
	for _, s := range c.Names.list() {
		value := s.value(c.Bins[n])
		if value <= 0 {
			continue
		}
		height := max(float64(value)/float64(top)*chartHeight, lowestBar)
		y -= height
		bars = append(bars, rect{"f-" + s.key, x, y, width, height})
	}
	return bars
}

// hit is the place of the nth bar, all of which answers the pointer.
func (c StackChart) hit(n int) rect {
	place := chartWidth / float64(len(c.Bins))
	return rect{"hit", float64(n) * place, 0, place, chartHeight}
}

// scale are the numbers beside the vertical axis, from above.
func (c StackChart) scale() []string {
	top := c.top()
	marks := make([]string, 0, chartLines+1)
	for i := chartLines; i >= 0; i-- {
		marks = append(marks, compact(top/chartLines*i))
	}
	if c.Size != "" { // a low chart has room for three
		return []string{marks[0], marks[2], marks[4]}
	}
	return marks
}

// compact writes a round number shortly: "25 k", "1.5 M".
func compact(n int) string {
	const thousand, million = 1_000, 1_000_000
	switch {
	case n >= million:
		return strconv.FormatFloat(float64(n)/million, 'g', 4, 64) + " M"
	case n >= 10*thousand:
		return strconv.FormatFloat(float64(n)/thousand, 'g', 4, 64) + " k"
	default:
		return Number(n)
	}
}

// coord writes a coordinate.
func coord(v float64) string { return strconv.FormatFloat(v, 'f', 1, 64) }

// The coordinates of a sparkline.
const (
	sparkWidth  = 88.0
	sparkHeight = 28.0
	// sparkMargin keeps the line's ends within the drawing.
	sparkMargin = 3.0
)

// points are the line through the values.
func (s Sparkline) points() string {
	least, most := bounds(s.Values)
	if s.FromZero {
		least = min(least, 0)
	}
	span := most - least
	if span == 0 {
		span = 1
	}
	step := sparkWidth / float64(max(len(s.Values)-1, 1))
	points := make([]string, 0, len(s.Values)+1)
	for i, v := range s.Values {
		y := sparkHeight - sparkMargin - (v-least)/span*(sparkHeight-2*sparkMargin)
		points = append(points, coord(float64(i)*step)+","+coord(y))
		if len(s.Values) == 1 { // a single value is a level
			points = append(points, coord(sparkWidth)+","+coord(y))
		}
	}
	return strings.Join(points, " ")
}

func bounds(values []float64) (least, most float64) {
	for i, v := range values {
		if i == 0 || v < least {
			least = v
		}
		if i == 0 || v > most {
			most = v
		}
	}
	return least, most
}

// tickHeights are how high the marks of Ticks are, so that colour is not all
// that tells them apart.
var tickHeights = map[string]float64{"ok": 14, "warn": 14, "bad": 18, "none": 6}

// The coordinates of ticks.
const (
	tickPlace  = 5.0
	tickWidth  = 3.5
	tickHeight = 20.0
)

// tick is the nth mark.
func tick(n int, state string) rect {
	height, ok := tickHeights[state]
	if !ok {
		state, height = "none", tickHeights["none"]
	}
	return rect{"t-" + state, float64(n) * tickPlace, tickHeight - height, tickWidth, height}
}

// share is a part of a whole in percent, within its bounds.
func share(value, whole float64) float64 {
	if whole <= 0 || value <= 0 {
		return 0
	}
	return min(value/whole, 1) * 100
}
