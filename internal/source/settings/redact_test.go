package settings_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/rowlock/rowlock/internal/signature"
	"github.com/rowlock/rowlock/internal/source/settings"
)

func TestRedact(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ kind, raw, want string }{
		{"meta", `{"verify_token":"hunter2"}`, `{"verify_token":"[redacted]"}`},
		{"meta", `{"tolerance":"1m","verify_token":"hunter2","x":{"a":1}}`, `{"tolerance":"1m","verify_token":"[redacted]","x":{"a":1}}`},
		{"meta", `{"\u0076erify_token":"hunter2"}`, `{"verify_token":"[redacted]"}`},
		{"meta", `{"verify_token":["hunter2"],"verify_token":"hunter2"}`, `{"verify_token":"[redacted]","verify_token":"[redacted]"}`},
		{"meta", `{"verify_token":null}`, `{"verify_token":null}`},
		{"meta", ` { "rate_limit" : null } `, ` { "rate_limit" : null } `},
		{"meta", `{}`, `{}`},
		{"hmac", `{"header":"X-Sig"}`, `{"header":"X-Sig"}`},
		// What cannot be read is not shown: it may be a secret of a newer version.
		{"newer", `{"token":"hunter2"}`, `{}`},
		{"api", `{}`, `{}`},
		{"meta", `["hunter2"]`, `{}`},
		{"meta", ``, `{}`},
	} {
		if got := string(settings.Redact(tt.kind, []byte(tt.raw))); got != tt.want {
			t.Errorf("%s %s: %s, want %s", tt.kind, tt.raw, got, tt.want)
		}
	}
}

// No kind shows a setting that it calls private.
func TestPrivateSettingsOfEveryKind(t *testing.T) {
	t.Parallel()
	private := 0
	for _, kind := range signature.Kinds() {
		scheme, _ := signature.Lookup(kind)
		for _, s := range scheme.Info().Settings {
			raw, _ := json.Marshal(map[string]string{s.Name: "hunter2"})
			shown := strings.Contains(string(settings.Redact(kind, raw)), "hunter2")
			if shown == s.Private {
				t.Errorf("%s %s: shown %v, private %v", kind, s.Name, shown, s.Private)
			}
			if s.Private {
				private++
			}
		}
	}
	if private == 0 {
		t.Error("no kind has a private setting")
	}
}

// Who may not read a value cannot keep it by sending back what was shown.
func TestARedactedValueIsRefused(t *testing.T) {
	t.Parallel()
	scheme, _ := signature.Lookup("meta")
	for raw, ok := range map[string]bool{
		`{"verify_token":"[redacted]"}`: false, `{"verify_token":"\u005bredacted]"}`: false,
		`{"verify_token":"[redacted"}`: true, `{"verify_token":"hunter2"}`: true,
	} {
		if err := settings.Check(scheme, json.RawMessage(raw)); (err == nil) != ok {
			t.Errorf("%s: %v, want ok %v", raw, err, ok)
		}
	}
	shown := settings.Redact("meta", []byte(`{"verify_token":"hunter2"}`))
	if err := settings.Check(scheme, shown); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("%s: %v", shown, err)
	}
}
