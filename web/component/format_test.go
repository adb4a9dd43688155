package component_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/rowlock/rowlock/web/component"
)

var now = time.Date(2026, time.November, 29, 16, 22, 29, 114e6, time.UTC)

func TestDuration(t *testing.T) {
	t.Parallel()
	for give, want := range map[time.Duration]string{
		0:                                    "0 ms",
		400 * time.Microsecond:               "<1 ms",
		412 * time.Millisecond:               "412 ms",
		999600 * time.Microsecond:            "1 s",
		1234 * time.Millisecond:              "1.2 s",
		15 * time.Second:                     "15 s",
		59960 * time.Millisecond:             "1 m",
		134 * time.Second:                    "2m 14s",
		59*time.Minute + 59500*1e6:           "1 h",
		5*time.Hour + 16*time.Minute:         "5h 16m",
		24*time.Hour - time.Second:           "1 d",
		76 * time.Hour:                       "3d 4h",
		-2 * time.Second:                     "−2 s",
		time.Duration(math.MaxInt64):         "106751d 23h",
		2*time.Minute + 400*time.Millisecond: "2 m",
		5 * time.Minute:                      "5 m",
		24 * time.Hour:                       "1 d",
	} {
		if got := component.Duration(give); got != want {
			t.Errorf("Duration(%d) = %q, want %q", give, got, want)
		}
	}
}

func TestBytes(t *testing.T) {
	t.Parallel()
	for give, want := range map[int]string{
		0: "0 B", 1: "1 B", 999: "999 B", 1000: "1 kB", 2114: "2.1 kB", 9960: "10 kB", 41234: "41 kB", 999_499: "999 kB",
		999_600: "1 MB", 1_500_000: "1.5 MB", 38_200_000_000: "38 GB",
	} {
		if got := component.Bytes(give); got != want {
			t.Errorf("Bytes(%d) = %q, want %q", give, got, want)
		}
	}
}

func TestNumber(t *testing.T) {
	t.Parallel()
	for give, want := range map[int64]string{
		0: "0", 7: "7", 999: "999", 1000: "1,000", 48213: "48,213", 1234567: "1,234,567", -48213: "−48,213",
		math.MinInt64: "−9,223,372,036,854,775,808",
	} {
		if got := component.Number(give); got != want {
			t.Errorf("Number(%d) = %q, want %q", give, got, want)
		}
	}
	if got := component.Plural(1, "event", "events"); got != "1 event" {
		t.Errorf("Plural(1) = %q", got)
	}
	if got := component.Plural(2114, "event", "events"); got != "2,114 events" {
		t.Errorf("Plural(2114) = %q", got)
	}
}

func TestAgo(t *testing.T) {
	t.Parallel()
	for give, want := range map[time.Duration]string{
		0: "just now", time.Second: "just now", 4 * time.Second: "4 s ago", 2 * time.Minute: "2 m ago",
		5 * time.Hour: "5 h ago", 40 * time.Hour: "1 d ago", 29 * 24 * time.Hour: "29 d ago",
		50 * 24 * time.Hour: "10 Oct 2026", -38 * time.Second: "in 38 s", -3 * time.Hour: "in 3 h",
		-(90*24*time.Hour - time.Second): "in 90 d", -(7*24*time.Hour - 40*time.Minute): "in 7 d", -36 * time.Hour: "in 2 d", -30 * time.Hour: "in 1 d",
		-(24*time.Hour - time.Second): "in 1 d", -(time.Hour - time.Second): "in 1 h", -89 * time.Minute: "in 1 h",
		-59600 * time.Millisecond: "in 1 m", -100 * time.Millisecond: "just now",
	} {
		doc := render(t, component.Ago(now.Add(-give), now))
		if got := text(one(t, doc, "time")); got != want {
			t.Errorf("%v ago: %q, want %q", give, got, want)
		}
	}
	zone := time.FixedZone("", 3600)
	el := one(t, render(t, component.Ago(now.In(zone), now)), "time")
	if got, want := attr(el, "datetime"), "2026-11-29T16:22:29.114Z"; got != want {
		t.Errorf("datetime = %q, want %q", got, want)
	}
	if got, want := attr(el, "title"), "2026-11-29 16:22:29.114 UTC"; got != want {
		t.Errorf("title = %q, want %q", got, want)
	}
}

func TestAgoSpan(t *testing.T) {
	t.Parallel()
	for want, give := range map[string][2]time.Duration{
		"2 m ago":                {2*time.Minute + 9*time.Second, 2 * time.Minute},
		"5 h to 2 m ago":         {5 * time.Hour, 2 * time.Minute},
		"4 s ago to just now":    {4 * time.Second, 0},
		"10 Oct 2026 to 5 h ago": {50 * 24 * time.Hour, 5 * time.Hour},
	} {
		doc := render(t, component.AgoSpan(now.Add(-give[0]), now.Add(-give[1]), now))
		if got := strings.Join(strings.Fields(doc.Text()), " "); got != want {
			t.Errorf("%v: %q, want %q", give, got, want)
		}
	}
}

func TestMoment(t *testing.T) {
	t.Parallel()
	for give, want := range map[time.Time]string{
		now.Add(-time.Minute):    "16:21:29.114 UTC",
		now.Add(-24 * time.Hour): "28 Nov, 16:22:29.114 UTC",
		now.AddDate(-1, 0, 0):    "29 Nov 2025, 16:22:29.114 UTC",
	} {
		if got := text(one(t, render(t, component.Moment(give, now)), "time")); got != want {
			t.Errorf("Moment = %q, want %q", got, want)
		}
	}
}

func TestCountdown(t *testing.T) {
	t.Parallel()
	for give, want := range map[time.Duration]struct{ left, text string }{
		38 * time.Second:   {"38", "38 s"},
		2498 * time.Second: {"2498", "41m 38s"},
		0:                  {"0", "0 s"},
		-134 * time.Second: {"-134", "2m 14s ago"},
	} {
		el := one(t, render(t, component.Countdown(now.Add(give), now)), "[data-left]")
		if attr(el, "data-left") != want.left || text(el) != want.text {
			t.Errorf("Countdown(%v) = %q %q, want %q %q", give, attr(el, "data-left"), text(el), want.left, want.text)
		}
	}
}
