package secret_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/rowlock/rowlock/internal/secret"
)

func TestCodes(t *testing.T) {
	t.Parallel()
	seen, form := map[string]bool{}, regexp.MustCompile(`^[0-9a-hjkmnp-tv-z]{4}(-[0-9a-hjkmnp-tv-z]{4}){3}$`)
	for range 1000 {
		code := secret.NewCode()
		if !form.MatchString(code) || seen[code] {
			t.Fatalf("code %q", code)
		}
		seen[code] = true
	}
}

// A code is the same however it is written, and another one is not.
func TestCodesAsTheyAreTyped(t *testing.T) {
	t.Parallel()
	const code = "9k01-x0fe-7m1t-w4zr"
	want := secret.HashCode(code)
	for _, typed := range []string{strings.ToUpper(code), " 9k01 x0fe 7m1t w4zr\n", "9koi-xofe-7mlt-w4zr", "9K01X0FE7M1TW4ZR"} {
		if secret.HashCode(typed) != want {
			t.Errorf("%q is another code", typed)
		}
	}
	for _, other := range []string{"", "9k01-x0fe-7m1t-w4z", "9k01-x0fe-7m1t-w4zs"} {
		if secret.HashCode(other) == want {
			t.Errorf("%q is the same code", other)
		}
	}
}
