package gateway

import (
	"strings"
	"time"
)

// DurationText writes a length of time as people enter it, without empty ends:
// 24h and 1m30s, not 24h0m0s.
func DurationText(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
