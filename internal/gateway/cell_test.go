package gateway_test

import (
	"testing"

	"github.com/rowlock/rowlock/internal/gateway"
)

func TestCellsAreNoFormulas(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", "order.created": "order.created", "12": "12", "a=b": "a=b", "'": "'",
		"=1+1": "'=1+1", "+1": "'+1", "-1": "'-1", "@SUM(A1)": "'@SUM(A1)", "\t=1": "'\t=1", "\r=1": "'\r=1", "\n=1": "'\n=1", `=HYPERLINK("http://x")`: `'=HYPERLINK("http://x")`,
	} {
		if got := gateway.PlainCell(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
