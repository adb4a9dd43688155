package signature

import (
	"strings"
	"testing"
)

// TestEventType compares with the pattern that types have to match.
func TestEventType(t *testing.T) {
	t.Parallel()
	cases := map[string]bool{
		"order.created": true, "orders/create": true, "a": true, "_a": true, "9": true, "A.b-c_d:e/f": true,
		"rowlock": true, "rowlocks.x": true, "Rowlock.x": true,
		"": false, ".a": false, "/a": false, "-a": false, ":a": false, "Push Hook": true, " a": false, "a ": false, "a\n": false, "é": false, "a\x00": false, "a\xff": false,
		"rowlock.": false, "rowlock.endpoint.disabled": false, "a,b": false, "<b>": false,
		strings.Repeat("a", 256): true, strings.Repeat("a", 257): false,
	}
	for text, ok := range cases {
		want := ""
		if ok {
			want = text
		}
		if got := eventType(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
