package settings_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/source/settings"
)

func TestPublic(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		kind, raw, want string
		private         []string
	}{
		{"meta", `{"tolerance":"1m","verify_token":"hunter2"}`, `{"tolerance":"1m"}`, []string{"verify_token"}},
		{"meta", `{"verify_token":"hunter2"}`, `{}`, []string{"verify_token"}},
		{"meta", `{}`, `{}`, nil},
		{"hmac", `{"header":"X-Sig"}`, `{"header":"X-Sig"}`, nil},
		// What cannot be read is not shown: it may be a secret of a newer version.
		{"newer", `{"token":"hunter2"}`, `{}`, nil},
	} {
		got, private := settings.Public(tt.kind, []byte(tt.raw))
		if string(got) != tt.want || !cmp.Equal(private, tt.private) {
			t.Errorf("%s %s: %s, %q", tt.kind, tt.raw, got, private)
		}
	}
}

func TestWithPrivate(t *testing.T) {
	t.Parallel()
	const present = `{"tolerance":"1m","verify_token":"hunter2"}`
	for chosen, want := range map[string]string{
		`{}`:                       `{"verify_token":"hunter2"}`,
		`{"tolerance":"2m"}`:       `{"tolerance":"2m","verify_token":"hunter2"}`,
		`{"verify_token":"other"}`: `{"verify_token":"other"}`,
		`{"verify_token":null}`:    `{"verify_token":null}`,
		`["x"]`:                    `["x"]`,
	} {
		if got := settings.WithPrivate("meta", []byte(chosen), []byte(present)); string(got) != want {
			t.Errorf("%s: %s, want %s", chosen, got, want)
		}
	}
}
