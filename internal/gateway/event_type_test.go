package gateway_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/rowlock/rowlock/internal/gateway"
)

func TestCheckDeclaredType(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"a": "", "order.created": "", "call/ended:v2": "", "Push Hook": "", strings.Repeat("a", 256): "",
		"": "want", " a": "want", "a ": "want", ".a": "want", "a\n": "want", "ä": "want", "a%2fb": "want", "*": "want", "a.*": "want",
		strings.Repeat("a", 257): "want",
		"rowlock.x":              "rowlock.",
	} {
		err := gateway.CheckDeclaredType(name)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", name, err, want)
		}
		if invalid, ok := errors.AsType[*gateway.InvalidError](err); err != nil && (!ok || invalid.Field != "name") {
			t.Errorf("%q: %v is no InvalidError of name", name, err)
		}
	}
}
