package signature

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestKinds(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, kind := range Kinds() {
		if seen[kind] {
			t.Errorf("kind %s is there twice", kind)
		}
		seen[kind] = true
	}
	for _, first := range []string{"github", "stripe", "standard_webhooks", "none"} {
		if !seen[first] {
			t.Errorf("kind %s is missing", first)
		}
	}
	for _, unknown := range []string{"", "GitHub", "github ", "api", "paypal"} {
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
			if !ok || scheme.Info().Kind != kind {
				t.Fatalf("Lookup(%q) found %v", kind, scheme)
			}
			if text := scheme.Protects(nil); !strings.HasSuffix(text, ".") {
				t.Errorf("Protects is no sentence: %q", text)
			}
			checkInfo(t, scheme.Info())
			for _, name := range scheme.Info().SecretHeaders {
				if name != http.CanonicalHeaderKey(name) {
					t.Errorf("secret header %q is not canonical", name)
				}
			}
			if _, err := scheme.CheckSecret(""); (err != nil) != (scheme.Info().Secret.Name != "") {
				t.Errorf("empty secret: error %v, has a secret: %v", err, scheme.Info().Secret.Name != "")
			}
			checkStrictSettings(t, scheme)
		})
	}
}

// checkInfo holds a kind to what its pages need, in words that are sentences.
func checkInfo(t *testing.T, i *Info) {
	t.Helper()
	if i.Name == "" || i.Summary == "" || !slices.Contains(Groups(), i.Group) || len(i.Steps) == 0 || i.Key.From == "" {
		t.Errorf("something is missing: %+v", i)
	}
	if i.Service() && !strings.HasPrefix(i.Docs, "https://") {
		t.Errorf("no page of the provider: %q", i.Docs)
	}
	sentences := slices.Concat(i.Steps, i.Notes, []string{i.Protects, i.Answer})
	for _, optional := range []string{i.Secret.From, i.Key.Scope, i.Retries} {
		if optional != "" {
			sentences = append(sentences, optional)
		}
	}
	for _, s := range sentences {
		if !strings.HasSuffix(s, ".") || strings.ContainsAny(s, "'\"\n") {
			t.Errorf("no sentence, or with typewriter quotes: %q", s)
		}
	}
}

func checkStrictSettings(t *testing.T, scheme Scheme) {
	t.Helper()
	for _, raw := range []string{`{"unknown":1}`, `{"replay_guards":true}`, `[]`, `7`, `"x"`, `{`, `{}x`, `{} {}`, `{"a":1,}`} {
		if scheme.CheckSettings(json.RawMessage(raw)) == nil {
			t.Errorf("settings %s are accepted", raw)
		}
	}
	if slices.ContainsFunc(scheme.Info().Settings, func(s Setting) bool { return s.Required }) {
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
