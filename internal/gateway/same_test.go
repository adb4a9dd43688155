package gateway_test

import (
	"testing"

	"github.com/rowlock/rowlock/internal/gateway"
)

func TestSameJSON(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"", "", true},
		{"", "null", false},
		{`{"a":1,"b":["<"]}`, "{ \"b\": [\"\\u003c\"],\n\"a\":1 }", true},
		{"12345678901234567890", "12345678901234567891", false},
		{"1", "1.0", false},
		{`{"a":null}`, "{}", false},
		{"{", "{", false},
	} {
		if got := gateway.SameJSON([]byte(c.a), []byte(c.b)); got != c.want {
			t.Errorf("%s and %s: %t", c.a, c.b, got)
		}
	}
}
