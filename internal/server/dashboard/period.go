package dashboard

import (
	"time"

	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/page"
)

const (
	paramRange = "range"
	paramSince = "since"
	paramUntil = "until"

	rangeAll = "all"
)

// paramsOfPeriod are the parameters of a list's period.
var paramsOfPeriod = []string{paramRange, paramSince, paramUntil}

// presets are the usual periods, from short to long.
var presets = []struct {
	name, text, wider string
	length            time.Duration
}{
	{"1h", "Last hour", "", time.Hour},
	{"24h", "Last 24 hours", "Look in the last 24 hours", 24 * time.Hour},
	{"7d", "Last 7 days", "Look in the last 7 days", 7 * 24 * time.Hour},
	{rangeAll, "All time", "Look in all that is kept", 0},
}

// usualRange is the period of a list whose address names none.
const usualRange = "24h"

// fieldTime is how a browser writes a date and a time; it is meant in UTC.
const fieldTime = "2006-01-02T15:04"

// period is the time that a list is narrowed to: a preset, or between two
// times, of which one can be zero. Zero times without a name are all time.
type period struct {
	preset       string
	since, until time.Time
}

// period reads a list's period. Two times win over a preset; what cannot be
// read counts as not there, and the page shows what holds instead.
func (l listing) period(usual string) period {
	since, until := readTime(l.get(paramSince)), readTime(l.get(paramUntil))
	if !since.IsZero() || !until.IsZero() {
		return period{since: since, until: until}
	}
	for _, p := range presets {
		if p.name == l.get(paramRange) {
			return l.preset(p.name)
		}
	}
	return l.preset(usual)
}

func (l listing) preset(name string) period {
	for _, p := range presets {
		if p.name == name && p.length > 0 {
			return period{preset: name, since: l.now.Add(-p.length)}
		}
	}
	return period{preset: rangeAll}
}

// readTime reads a time as the API or a browser's field writes it; zero is none.
func readTime(text string) time.Time {
	for _, layout := range []string{time.RFC3339Nano, fieldTime, fieldTime + ":05"} {
		if at, err := time.Parse(layout, text); err == nil && at.Year() >= 1970 && at.UTC().Year() <= 9999 {
			return at.UTC()
		}
	}
	return time.Time{}
}

// filter shows a period; usual is the preset that needs no parameter.
func (l listing) filter(p period, label, usual string) page.Period {
	view := page.Period{Label: label, Text: p.text()}
	if p.preset == "" {
		view.Since, view.Until = fieldOfTime(p.since), fieldOfTime(p.until)
	} else if p.preset != usual {
		view.Name = p.preset
	}
	for _, preset := range presets {
		view.Presets = append(view.Presets, component.Choice{
			Text: preset.text, Href: l.in(preset.name), Current: preset.name == p.preset,
		})
	}
	return view
}

func fieldOfTime(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(fieldTime)
}

// text is the period in words.
func (p period) text() string {
	const moment = "2 Jan, 15:04"
	for _, preset := range presets {
		if preset.name == p.preset {
			return preset.text
		}
	}
	switch {
	case p.until.IsZero():
		return "since " + p.since.UTC().Format(moment) + " UTC"
	case p.since.IsZero():
		return "before " + p.until.UTC().Format(moment) + " UTC"
	default:
		return p.since.UTC().Format(moment) + " – " + p.until.UTC().Format(moment)
	}
}

// wider offers the next longer period; none when it is all time.
func (l listing) wider(p period) component.Choice {
	for i, preset := range presets {
		if preset.name == p.preset && i+1 < len(presets) {
			next := presets[i+1]
			return component.Choice{Text: next.wider, Href: l.in(next.name)}
		}
	}
	if p.preset == "" {
		return component.Choice{Text: presets[len(presets)-1].wider, Href: l.in(rangeAll)}
	}
	return component.Choice{}
}

// nextPeriod is the next longer one; not ok when it is all time.
func (l listing) nextPeriod(p period) (next period, ok bool) {
	for i, preset := range presets {
		if preset.name == p.preset && i+1 < len(presets) {
			return l.preset(presets[i+1].name), true
		}
	}
	return l.preset(rangeAll), p.preset == ""
}

// choiceOf leads to the list of a usual period.
func (l listing) choiceOf(p period) component.Choice {
	for _, preset := range presets {
		if preset.name == p.preset {
			return component.Choice{Text: preset.wider, Href: l.in(preset.name)}
		}
	}
	return component.Choice{}
}

// between is the address of the first page of the list of what lies between two
// times.
func (l listing) between(since, until time.Time) string {
	q := l.clone()
	for _, name := range append(paramsOfPeriod, paramAfter) {
		q.Del(name)
	}
	q.Set(paramSince, since.UTC().Format(fieldTime))
	q.Set(paramUntil, until.UTC().Format(fieldTime))
	return l.address(q)
}
