package component

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

const day = 24 * time.Hour

// Duration writes a length of time as people read it: "412 ms", "1.2 s",
// "5 m", "2m 14s", "5h 16m", "3d 4h".
func Duration(d time.Duration) string {
	if d < 0 {
		return "−" + Duration(-d)
	}
	switch ms := d.Round(time.Millisecond); {
	case d > 0 && d < time.Millisecond:
		return "<1 ms"
	case ms < time.Second:
		return strconv.FormatInt(ms.Milliseconds(), 10) + " ms"
	case d.Round(time.Second/10) < time.Minute:
		return strings.TrimSuffix(strconv.FormatFloat(d.Seconds(), 'f', 1, 64), ".0") + " s"
	case d.Round(time.Second) < time.Hour:
		return twoUnits(d.Round(time.Second), time.Minute, "m", time.Second, "s")
	case d.Round(time.Minute) < day:
		return twoUnits(d.Round(time.Minute), time.Hour, "h", time.Minute, "m")
	default:
		return twoUnits(d.Round(time.Hour), day, "d", time.Hour, "h")
	}
}

// twoUnits writes a length of time in a unit and the next smaller one, or apart
// from its unit where one is enough.
func twoUnits(d, big time.Duration, bigName string, small time.Duration, smallName string) string {
	text := strconv.FormatInt(int64(d/big), 10)
	rest := d % big / small
	if rest == 0 {
		return text + " " + bigName
	}
	return text + bigName + " " + strconv.FormatInt(int64(rest), 10) + smallName
}

// agoText writes how long ago at was, or how long it is until then. What is
// ahead is rounded: a key that was just made for 90 days ends in 90 d.
func agoText(at, now time.Time) string {
	d := now.Sub(at)
	switch {
	case d <= -time.Second/2:
		return "in " + coarse(rounded(-d))
	case d < 2*time.Second:
		return "just now"
	case d < 30*day:
		return coarse(d) + " ago"
	default:
		return at.UTC().Format("2 Jan 2006")
	}
}

// rounded is a length of time in whole numbers of its largest unit.
func rounded(d time.Duration) time.Duration {
	switch {
	case d.Round(time.Second) < time.Minute:
		return d.Round(time.Second)
	case d.Round(time.Minute) < time.Hour:
		return d.Round(time.Minute)
	case d.Round(time.Hour) < day:
		return d.Round(time.Hour)
	default:
		return d.Round(day)
	}
}

// coarse writes a length of time in its largest unit.
func coarse(d time.Duration) string {
	switch {
	case d < time.Minute:
		return strconv.FormatInt(int64(d/time.Second), 10) + " s"
	case d < time.Hour:
		return strconv.FormatInt(int64(d/time.Minute), 10) + " m"
	case d < day:
		return strconv.FormatInt(int64(d/time.Hour), 10) + " h"
	default:
		return strconv.FormatInt(int64(d/day), 10) + " d"
	}
}

// momentText writes a time of today as a clock time and others with their
// date.
func momentText(at, now time.Time) string {
	at, now = at.UTC(), now.UTC()
	switch {
	case at.Format(time.DateOnly) == now.Format(time.DateOnly):
		return at.Format("15:04:05.000 UTC")
	case at.Year() == now.Year():
		return at.Format("2 Jan, 15:04:05.000 UTC")
	default:
		return at.Format("2 Jan 2006, 15:04:05.000 UTC")
	}
}

// fullText writes a time whole, to stand in a title.
func fullText(at time.Time) string {
	return at.UTC().Format("2006-01-02 15:04:05.000 UTC")
}

// Bytes writes a size: "512 B", "2.1 kB", "41 kB", "1.2 GB". A kB is 1000
// bytes.
func Bytes[N ~int | ~int64](n N) string {
	const step = 1000
	size, unit := float64(n), "B"
	for _, next := range []string{"kB", "MB", "GB", "TB", "PB"} {
		if size < step-0.5 {
			break
		}
		size, unit = size/step, next
	}
	if unit == "B" || size >= 9.95 {
		return fmt.Sprintf("%.0f %s", size, unit)
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", size), ".0") + " " + unit
}

// Number writes a whole number with its thousands apart: "48,213".
func Number[N ~int | ~int32 | ~int64](n N) string {
	digits := strconv.FormatInt(int64(n), 10)
	sign := ""
	if n < 0 {
		sign, digits = "−", digits[1:]
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}

// Plural chooses the noun for a number and puts the number before it:
// "1 event", "2,114 events".
func Plural[N ~int | ~int32 | ~int64](n N, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Number(n) + " " + many
}
