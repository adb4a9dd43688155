package page

import (
	"strconv"
	"time"

	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/layout"
)

// Retention is the page of how long things of an account are kept, and of what
// it may have.
type Retention struct {
	layout.Frame

	Now time.Time
	// Events, Keys and Claims are how long events, the keys of events and ended
	// claims of the ledger are kept.
	Events, Keys, Claims time.Duration
	Limits               []AccountLimit
}

// AccountLimit is something of which an account may have only so much.
type AccountLimit struct {
	Name, Note string
	// Used is how much there is of Most; no Most is no limit. Both are written
	// by Write; nil writes numbers.
	Used, Most int64
	Write      func(int64) string
	// Rate tells that it is a speed, of which nothing is used up.
	Rate bool
}

// tabRetention is the page's tab among the settings.
const tabRetention = "retention"

// warnAt is from which share on, in percent, a limit is near.
const warnAt = 80

func (l AccountLimit) write(n int64) string {
	if l.Write != nil {
		return l.Write(n)
	}
	return component.Number(n)
}

// says is how much is used of how much.
func (l AccountLimit) says() string {
	switch {
	case l.Rate && l.Most == 0:
		return "no limit"
	case l.Rate:
		return l.write(l.Most)
	case l.Most == 0:
		return l.write(l.Used) + ", no limit"
	}
	return l.write(l.Used) + " of " + l.write(l.Most)
}

// metered tells that there is a bar to draw.
func (l AccountLimit) metered() bool { return !l.Rate && l.Most > 0 }

func (l AccountLimit) percent() int64 { return min(100, l.Used*100/l.Most) }

func (l AccountLimit) width() string { return strconv.FormatInt(l.percent(), 10) }

// fill is the look of the bar.
func (l AccountLimit) fill() string {
	switch {
	case l.percent() >= 100:
		return "v-bad"
	case l.percent() >= warnAt:
		return "v-warn"
	}
	return "v"
}

// goes is the newest day that goes next, as a whole.
func (v Retention) goes() string { return dayText(v.Now.Add(-v.Events)) }
