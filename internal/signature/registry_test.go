package signature

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestKinds(t *testing.T) {
	t.Parallel()
	want := []string{"github", "stripe", "standard_webhooks", "hmac", "none"}
	if diff := cmp.Diff(want, Kinds()); diff != "" {
		t.Errorf("kinds (-want +got):\n%s", diff)
	}
	for _, unknown := range []string{"", "GitHub", "github ", "api", "svix"} {
		if scheme, ok := Lookup(unknown); ok || scheme != nil {
			t.Errorf("Lookup(%q) found %v", unknown, scheme)
		}
	}
}

// TestSchemes is what holds for each kind, whatever it verifies.
func TestSchemes(t *testing.T) {
	t.Parallel()
	for _, kind := range Kinds() {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			scheme, ok := Lookup(kind)
			if !ok || scheme.Kind() != kind {
				t.Fatalf("Lookup(%q) found %v", kind, scheme)
			}
			if text := scheme.Protects(nil); !strings.HasSuffix(text, ".") {
				t.Errorf("Protects is no sentence: %q", text)
			}
			for _, name := range scheme.SecretHeaders() {
				if name != http.CanonicalHeaderKey(name) {
					t.Errorf("secret header %q is not canonical", name)
				}
			}
			if _, err := scheme.CheckSecret(""); (err != nil) != scheme.NeedsSecret() {
				t.Errorf("empty secret: error %v, needs a secret: %v", err, scheme.NeedsSecret())
			}
			checkStrictSettings(t, scheme)
		})
	}
}

func checkStrictSettings(t *testing.T, scheme Scheme) {
	t.Helper()
	for _, raw := range []string{`{"unknown":1}`, `{"replay_guards":true}`, `[]`, `7`, `"x"`, `{`, `{}x`, `{} {}`, `{"a":1,}`} {
		if scheme.CheckSettings(json.RawMessage(raw)) == nil {
			t.Errorf("settings %s are accepted", raw)
		}
	}
	if scheme.Kind() == "hmac" {
		return // has a setting that must be given
	}
	for _, raw := range []string{``, `null`, `{}`, " {\n} "} {
		if err := scheme.CheckSettings(json.RawMessage(raw)); err != nil {
			t.Errorf("settings %q are refused: %v", raw, err)
		}
	}
}

// TestNone: unsigned requests come through with no identity, whatever they hold.
func TestNone(t *testing.T) {
	t.Parallel()
	scheme, _ := Lookup("none")
	for _, body := range []string{"", `{"id":"evt_1","type":"a"}`, "\xff\x00"} {
		r := Request{Header: http.Header{"X-Github-Event": {"push"}}, Body: []byte(body), Now: testNow}
		verified, err := scheme.Verify(r, Settings{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(Verified{Events: []Identity{{}}}, verified); diff != "" {
			t.Errorf("verified (-want +got):\n%s", diff)
		}
	}
	_, err := scheme.CheckSecret("s3cret")
	wantError(t, err, "has no secret")
	if strings.Contains(err.Error(), "s3cret") {
		t.Error("the error repeats the secret")
	}
}
