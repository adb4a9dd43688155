package signature

import (
	"math"
	"net/http"
	"strconv"
	"time"
)

const (
	// DefaultTolerance is how far a signed time may be from our clock, each way,
	// when neither the source nor its kind says anything else. Providers and
	// their libraries agree on it.
	DefaultTolerance = 5 * time.Minute
	// AnyTime is the tolerance that refuses no time.
	AnyTime = time.Duration(math.MinInt64)
)

// maxTimeDigits keeps seconds inside what time.Time can hold without wrapping
// around. A time in milliseconds fits, and is then far in the future.
const maxTimeDigits = 18

// timeUnit is a way to write a time.
type timeUnit struct {
	// words say what it looks like.
	words  string
	parse  func(text string) (time.Time, bool)
	format func(time.Time) string
}

var (
	inSeconds = timeUnit{"one number of seconds since 1970", parseUnix, func(t time.Time) string { return strconv.FormatInt(t.Unix(), 10) }}
	inMillis  = timeUnit{"one number of milliseconds since 1970", parseMillis, func(t time.Time) string { return strconv.FormatInt(t.UnixMilli(), 10) }}
	inRFC3339 = timeUnit{"a time such as 2006-01-02T15:04:05Z", parseRFC3339, func(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }}
)

// parseUnix reads a time in whole seconds: digits and nothing else, because
// the text is signed as it was sent and a sign or a space would not be it.
func parseUnix(text string) (time.Time, bool) {
	n, ok := parseDigits(text)
	return time.Unix(n, 0), ok
}

func parseMillis(text string) (time.Time, bool) {
	n, ok := parseDigits(text)
	return time.UnixMilli(n), ok
}

func parseDigits(text string) (int64, bool) {
	if text == "" || len(text) > maxTimeDigits || !isDigits(text) {
		return 0, false
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil
}

func parseRFC3339(text string) (time.Time, bool) {
	at, err := time.Parse(time.RFC3339Nano, text)
	return at, err == nil
}

func isDigits(text string) bool {
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return false
		}
	}
	return true
}

// timeHeader reads the header that holds the signed time, as text and as time.
// Absent, repeated or unreadable is the same: there is no usable time.
func timeHeader(header http.Header, name string, unit timeUnit) (string, time.Time, error) {
	text := identityHeader(header, name)
	at, ok := unit.parse(text)
	if !ok {
		return "", time.Time{}, malformed(name, "The header "+name+" holds no usable time: "+unit.words+".")
	}
	return text, at, nil
}

// checkTime returns the skew of a signed time, or the refusal of one that is
// out of tolerance. It is asked last: before the signature is known to be
// right, the time is anybody's. Where names what holds the time, for a header
// alone by its name.
func checkTime(where string, signedAt time.Time, request Request, settings Settings) (time.Duration, error) {
	tolerance := settings.Tolerance
	if tolerance <= 0 && tolerance != AnyTime {
		tolerance = DefaultTolerance
	}
	skew := request.Now.Sub(signedAt)
	if tolerance != AnyTime && (skew > tolerance || skew < -tolerance) {
		return 0, outOfRange(where, skew, tolerance)
	}
	return skew, nil
}
