package page

import (
	"time"

	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/layout"
)

// Usage is the page of what was metered for an account in a month.
type Usage struct {
	layout.Frame

	// Month is the month in words: "November 2026".
	Month string
	// Days are those that have begun, oldest first.
	Days []UsageDay
	// Previous and Next are the months around it, empty where there is none;
	// CSV is the month as a file.
	Previous, Next, CSV string
	// Running tells that the month is not over.
	Running bool
}

// UsageDay is one day of it, or the sum of them.
type UsageDay struct {
	Day                       time.Time
	Events, Deliveries, Bytes int64
}

// Total is the sum of the days.
func (v Usage) Total() (sum UsageDay) {
	for _, d := range v.Days {
		sum.Events += d.Events
		sum.Deliveries += d.Deliveries
		sum.Bytes += d.Bytes
	}
	return sum
}

// empty tells that nothing was metered.
func (v Usage) empty() bool { return v.Total() == UsageDay{} }

// lede says which days the numbers are of.
func (v Usage) lede() string {
	if v.Running {
		return v.Month + " so far, in UTC"
	}
	return v.Month + ", in UTC"
}

// bins are the bars of one meter.
func (v Usage) bins(meter func(UsageDay) int64) []component.Bin {
	bins := make([]component.Bin, len(v.Days))
	for i, d := range v.Days {
		bins[i] = component.Bin{Label: dayText(d.Day), OK: int(meter(d))}
	}
	return bins
}

// daysBetweenMarks is how many days lie between two texts below a chart, about.
const daysBetweenMarks = 7

// marks are some days, evenly spread.
func (v Usage) marks() []string {
	days := make([]time.Time, len(v.Days))
	for i, d := range v.Days {
		days[i] = d.Day
	}
	return dayMarks(days)
}

// dayMarks are texts for some of the days, evenly spread.
func dayMarks(days []time.Time) []string {
	n := len(days)
	if n == 0 {
		return nil
	}
	parts := max(1, n/daysBetweenMarks)
	marks := make([]string, 0, parts+1)
	for i := range parts + 1 {
		if len(marks) > 0 && n == 1 {
			break
		}
		marks = append(marks, dayText(days[i*(n-1)/parts]))
	}
	return marks
}

func dayText(day time.Time) string { return day.UTC().Format("2 Jan") }

// meters are what is counted, with how the charts call it.
var meters = []struct {
	id, title string
	names     component.SeriesNames
	value     func(UsageDay) int64
}{
	{"events", "Events per day", component.SeriesNames{OK: "Events"}, func(d UsageDay) int64 { return d.Events }},
	{"deliveries", "Deliveries per day", component.SeriesNames{OK: "Deliveries"}, func(d UsageDay) int64 { return d.Deliveries }},
}
