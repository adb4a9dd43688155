package signature

import (
	"net/http"
	"strconv"
	"time"
)

// DefaultTolerance is how far a signed time may be from our clock, each way,
// when a source says nothing else. Providers and their libraries agree on it.
const DefaultTolerance = 5 * time.Minute

// maxTimeDigits keeps seconds inside what time.Time can hold without wrapping
// around. A time in milliseconds fits, and is then far in the future.
const maxTimeDigits = 18

// parseUnix reads a time in whole seconds: digits and nothing else, because
// the text is signed as it was sent and a sign or a space would not be it.
func parseUnix(text string) (time.Time, bool) {
	if text == "" || len(text) > maxTimeDigits || !isDigits(text) {
		return time.Time{}, false
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	return time.Unix(seconds, 0), err == nil
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
func timeHeader(header http.Header, name string) (string, time.Time, error) {
	text := identityHeader(header, name)
	at, ok := parseUnix(text)
	if !ok {
		return "", time.Time{}, malformed(name, "The header "+name+" holds no usable time: one number of seconds since 1970.")
	}
	return text, at, nil
}

// checkTime returns the skew of a signed time, or the refusal of one that is
// out of tolerance. It is asked last: before the signature is known to be
// right, the time is anybody's.
func checkTime(header string, signedAt time.Time, request Request, settings Settings) (time.Duration, error) {
	tolerance := settings.Tolerance
	if tolerance <= 0 {
		tolerance = DefaultTolerance
	}
	skew := request.Now.Sub(signedAt)
	if skew > tolerance || skew < -tolerance {
		return 0, outOfRange(header, skew, tolerance)
	}
	return skew, nil
}
