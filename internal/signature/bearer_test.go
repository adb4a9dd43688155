package signature

import (
	"encoding/json"
	"slices"
	"testing"
)

// TestSecretHeadersOfUnusableSettings: what the settings may mean is kept out of
// what is stored, also when they cannot be used.
func TestSecretHeadersOfUnusableSettings(t *testing.T) {
	t.Parallel()
	for raw, ok := range map[string]bool{
		`{"header":"X-Api-Key"}`:                         true,
		`{"header":"X-Api-Key","later":[1]}`:             true,
		`{"later":true,"header":"X-Api-Key"}`:            true,
		`{"header":"X-Other","header":"X-Api-Key"}`:      true,
		`{"header":"X-Api-Key","header":"X-Other"}`:      true,
		`{"header":["X-Api-Key"]}`:                       true,
		`{"header":"X-Api-Key","id_header":"X-Api-Key"}`: true,
		`{"header":"X-Api-Key","id_header":`:             true,
		`{"header":"X-Other"}`:                           false,
	} {
		if got := bearer.SecretHeaders(json.RawMessage(raw)); slices.Contains(got, "X-Api-Key") != ok {
			t.Errorf("%s: %q", raw, got)
		}
	}
}
