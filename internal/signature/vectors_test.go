package signature

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/gateway"
)

// vectorFile is one file under testdata/KIND: requests of a provider with the
// verdict that is due.
type vectorFile struct {
	Provider string   `json:"provider"`
	Cases    []vector `json:"cases"`
}

// vector is one request. EventID and EventType are pinned only where the file
// names them; null there means that there is none.
type vector struct {
	Name            string                     `json:"name"`
	Method          string                     `json:"method"`
	URL             string                     `json:"url"`
	NotificationURL string                     `json:"notification_url"`
	Headers         map[string]json.RawMessage `json:"headers"`
	Body            string                     `json:"body"`
	BodyBase64      []byte                     `json:"body_base64"`
	Secret          *string                    `json:"secret"`
	Secrets         []string                   `json:"secrets"`
	NowUnix         int64                      `json:"now_unix"`
	Expect          string                     `json:"expect"`
	Strictness      string                     `json:"strictness"`
	Reason          string                     `json:"reason"`
	EventID         json.RawMessage            `json:"event_id"`
	EventType       json.RawMessage            `json:"event_type"`
	DuplicateOf     string                     `json:"duplicate_of"`
}

// hmacVectors are the settings with which the kind hmac stands in for
// providers, by file, and the cases that need more than it can do.
var hmacVectors = map[string]struct {
	settings string
	beyond   []string
}{
	"bitbucket": {settings: `{"header":"X-Hub-Signature","prefix":"sha256=","id_header":"X-Request-UUID","type_header":"X-Event-Key"}`},
	"linear": {
		settings: `{"header":"Linear-Signature","id_header":"Linear-Delivery","type_header":"Linear-Event"}`,
		beyond:   []string{"pub_stale_timestamp", "stale_61s", "no_timestamp_in_body"}, // the time is in the body
	},
	"shopify": {settings: `{"header":"X-Shopify-Hmac-SHA256","encoding":"base64","id_header":"X-Shopify-Webhook-Id","type_header":"X-Shopify-Topic"}`},
	"slack":   {settings: `{"header":"X-Slack-Signature","prefix":"v0=","signed":"v0:{timestamp}:{body}","timestamp_header":"X-Slack-Request-Timestamp"}`},
	"square":  {settings: `{"header":"x-square-hmacsha256-signature","encoding":"base64","signed":"{url}{body}"}`},
	"typeform": {
		settings: `{"header":"Typeform-Signature","encoding":"base64","prefix":"sha256="}`,
	},
	"vercel": {settings: `{"header":"x-vercel-signature","algorithm":"sha1"}`},
}

// vectorCodes are the codes due for the refused vectors, by case or by
// provider/case. A refused vector that is not here fails, so that none passes
// for the wrong reason.
var vectorCodes = map[string]string{
	"missing_signature_header":         CodeMissing,
	"only_legacy_sha1":                 CodeMissing,
	"empty_signature_header":           CodeMissing,
	"pub_no_header":                    CodeMissing,
	"pub_missing_id":                   CodeMissing,
	"slack/handshake_unsigned":         CodeMissing,
	"square/legacy_sha1_only":          CodeMissing,
	"garbage_signature_header":         CodeMalformed,
	"truncated_signature":              CodeMalformed,
	"overlong_signature":               CodeMalformed,
	"wrong_prefix":                     CodeMalformed,
	"no_prefix":                        CodeMalformed,
	"double_prefix":                    CodeMalformed,
	"github_style_prefix":              CodeMalformed,
	"unknown_version":                  CodeMalformed,
	"hex_instead_of_base64":            CodeMalformed,
	"pub_empty_t":                      CodeMalformed,
	"pub_short_hmac":                   CodeMalformed,
	"pub_bad_header":                   CodeMalformed,
	"pub_invalid_base64":               CodeMalformed,
	"pub_partial_prefix":               CodeMalformed,
	"v1a_short_signature":              CodeMalformed,
	"v1a_label_v1":                     CodeMalformed,
	"sha1_in_same_header":              CodeMalformed,
	"sha256_instead_of_sha1":           CodeMalformed,
	"missing_timestamp_header":         CodeMalformed,
	"malformed_timestamp":              CodeMalformed,
	"expired_timestamp":                CodeTimestamp,
	"future_timestamp":                 CodeTimestamp,
	"ts_milliseconds":                  CodeTimestamp,
	"pub_sign_expired":                 CodeTimestamp,
	"pub_sign_too_new":                 CodeTimestamp,
	"pub_ancient_timestamp":            CodeTimestamp,
	"pub_slash_command_expired":        CodeTimestamp,
	"wrong_secret":                     CodeMismatch,
	"pub_wrong_key":                    CodeMismatch,
	"pub_wrong_body":                   CodeMismatch,
	"pub_slackgo_wrong_secret":         CodeMismatch,
	"pub_slackgo_wrong_body":           CodeMismatch,
	"pub_body_month_changed":           CodeMismatch,
	"pub_body_formatted":               CodeMismatch,
	"pub_multi_none_valid":             CodeMismatch,
	"altered_one_byte":                 CodeMismatch,
	"body_reserialized":                CodeMismatch,
	"form_rebuilt_from_parsed":         CodeMismatch,
	"trailing_newline_added":           CodeMismatch,
	"secret_has_trailing_newline":      CodeMismatch,
	"empty_secret_configured":          CodeMismatch,
	"body_gzip_signed_before_compress": CodeMismatch,
	"timestamp_changed":                CodeMismatch,
	"timestamp_param_changed":          CodeMismatch,
	"id_changed":                       CodeMismatch,
	"key_base64_decoded_by_mistake":    CodeMismatch,
	"v2_only":                          CodeMismatch,
	"v1a_wrong_key":                    CodeMismatch,
	"v1a_bitflip":                      CodeMismatch,
	"v1a_low_order_zero_sig":           CodeMismatch,
	"v1_hmac_keyed_with_public_key":    CodeMismatch,
	"trailing_slash_in_url":            CodeMismatch,
	"request_url_used_instead":         CodeMismatch,
}

// TestVectors runs every request under testdata against its scheme. A kind
// that has secrets must come with vectors.
func TestVectors(t *testing.T) {
	t.Parallel()
	for _, kind := range Kinds() {
		scheme, _ := Lookup(kind)
		files, err := filepath.Glob(filepath.Join("testdata", kind, "*.json"))
		if err != nil {
			t.Fatal(err)
		}
		if scheme.NeedsSecret() && len(files) == 0 {
			t.Errorf("kind %s has no vectors under testdata/%s", kind, kind)
		}
		for _, file := range files {
			t.Run(kind+"/"+filepath.Base(file), func(t *testing.T) {
				t.Parallel()
				runVectors(t, scheme, loadVectors(t, file))
			})
		}
	}
}

func loadVectors(t *testing.T, file string) vectorFile {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var vectors vectorFile
	if err := json.Unmarshal(text, &vectors); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	if len(vectors.Cases) == 0 {
		t.Fatalf("%s has no cases", file)
	}
	return vectors
}

func runVectors(t *testing.T, scheme Scheme, file vectorFile) {
	t.Helper()
	settings, beyond := vectorSettings(t, scheme, file.Provider)
	keys := map[string]string{}
	for _, v := range file.Cases {
		if beyond[v.Name] {
			continue
		}
		t.Run(v.Name, func(t *testing.T) {
			verified, err := scheme.Verify(v.request(t), settings, v.secrets())
			checkVerdict(t, file.Provider, v, err)
			if err != nil {
				return
			}
			checkEvents(t, v, verified, settings)
			keys[v.Name] = verified.Events[0].Key
			if v.DuplicateOf != "" && (keys[v.DuplicateOf] != keys[v.Name] || settings.hasID() && keys[v.Name] == "") {
				t.Errorf("key %q is not that of %s, %q", keys[v.Name], v.DuplicateOf, keys[v.DuplicateOf])
			}
			checkStoredSecret(t, scheme, settings, v)
		})
	}
}

func vectorSettings(t *testing.T, scheme Scheme, provider string) (Settings, map[string]bool) {
	t.Helper()
	if scheme.Kind() != "hmac" {
		return Settings{}, nil
	}
	entry, ok := hmacVectors[provider]
	if !ok {
		t.Fatalf("no settings for the vectors of %s", provider)
	}
	raw := json.RawMessage(entry.settings)
	if err := scheme.CheckSettings(raw); err != nil {
		t.Fatalf("settings of %s: %v", provider, err)
	}
	beyond := make(map[string]bool, len(entry.beyond))
	for _, name := range entry.beyond {
		beyond[name] = true
	}
	return Settings{Raw: raw}, beyond
}

// hasID tells whether settings name the header of the id; with none, the
// scheme itself knows where the id is.
func (s Settings) hasID() bool { return s.Raw == nil || strings.Contains(string(s.Raw), `"id_header"`) }

func (s Settings) hasType() bool {
	return s.Raw == nil || strings.Contains(string(s.Raw), `"type_header"`)
}

func checkVerdict(t *testing.T, provider string, v vector, err error) {
	t.Helper()
	var refusal *Refusal
	if err != nil && !errors.As(err, &refusal) {
		t.Fatalf("error is %T, not *Refusal: %v", err, err)
	}
	if v.Strictness == "optional" {
		return
	}
	if (v.Expect == "accept") != (err == nil) {
		t.Fatalf("want %s (%s), got %v", v.Expect, v.Reason, err)
	}
	if err == nil {
		return
	}
	want, ok := vectorCodes[provider+"/"+v.Name]
	if !ok {
		want, ok = vectorCodes[v.Name]
	}
	if !ok {
		t.Fatalf("no code is pinned for this refusal; it came as %s", refusal.Code)
	}
	if refusal.Code != want {
		t.Errorf("code is %s, want %s (%s)", refusal.Code, want, refusal.Detail)
	}
	checkRefusalKeepsSecrets(t, refusal, v.secrets())
}

// checkRefusalKeepsSecrets fails when a refusal repeats a secret.
func checkRefusalKeepsSecrets(t *testing.T, refusal *Refusal, secrets []Secret) {
	t.Helper()
	if refusal.Detail == "" {
		t.Error("the refusal explains nothing")
	}
	for _, secret := range secrets {
		if text := strings.TrimSpace(string(secret.Value)); text != "" && strings.Contains(refusal.Error(), text) {
			t.Errorf("the refusal repeats the secret: %v", refusal)
		}
	}
}

func checkEvents(t *testing.T, v vector, verified Verified, settings Settings) {
	t.Helper()
	if len(verified.Events) != 1 {
		t.Fatalf("got %d events, want 1", len(verified.Events))
	}
	event := verified.Events[0]
	if v.EventID != nil && settings.hasID() {
		if diff := cmp.Diff(pinned(t, v.EventID), event.Key); diff != "" {
			t.Errorf("key (-want +got):\n%s", diff)
		}
	}
	if v.EventType != nil && settings.hasType() {
		if diff := cmp.Diff(pinned(t, v.EventType), event.Type); diff != "" {
			t.Errorf("type (-want +got):\n%s", diff)
		}
	}
	if len(v.secrets()) == 1 && verified.Secret != secretID(0) {
		t.Errorf("matched secret %v, want the only one", verified.Secret)
	}
}

// checkStoredSecret repeats an accepted request with the secrets as they are
// after CheckSecret: what a person pastes and what works must be the same.
func checkStoredSecret(t *testing.T, scheme Scheme, settings Settings, v vector) {
	t.Helper()
	stored := v.secrets()
	for i := range stored {
		text, err := scheme.CheckSecret(" \t" + string(stored[i].Value) + "\r\n")
		if err != nil {
			t.Fatalf("secret refused: %v", err)
		}
		stored[i].Value = []byte(text)
	}
	if _, err := scheme.Verify(v.request(t), settings, stored); err != nil {
		t.Errorf("refused with the secret as stored: %v", err)
	}
}

func (v vector) request(t *testing.T) Request {
	t.Helper()
	request := Request{Method: v.Method, URL: v.URL, Header: http.Header{}, Body: []byte(v.Body), Now: time.Unix(v.NowUnix, 0)}
	if v.NotificationURL != "" {
		request.URL = v.NotificationURL
	}
	if v.BodyBase64 != nil {
		request.Body = v.BodyBase64
	}
	for name, raw := range v.Headers {
		for _, value := range oneOrMany(t, raw) {
			request.Header.Add(name, value)
		}
	}
	return request
}

func oneOrMany(t *testing.T, raw json.RawMessage) []string {
	t.Helper()
	var many []string
	if json.Unmarshal(raw, &many) == nil {
		return many
	}
	return []string{pinned(t, raw)}
}

// pinned reads a string that may be null.
func pinned(t *testing.T, raw json.RawMessage) string {
	t.Helper()
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		t.Fatal(err)
	}
	return text
}

func (v vector) secrets() []Secret {
	if v.Secret != nil {
		return liveSecrets(*v.Secret)
	}
	return liveSecrets(v.Secrets...)
}

// liveSecrets gives each text an id of its own: secretID of its index.
func liveSecrets(texts ...string) []Secret {
	secrets := make([]Secret, 0, len(texts))
	for i, text := range texts {
		secrets = append(secrets, Secret{ID: secretID(i), Value: []byte(text)})
	}
	return secrets
}

func secretID(index int) gateway.SecretID { return gateway.SecretID{15: byte(index + 1)} }

func b64(raw []byte) string { return base64.StdEncoding.EncodeToString(raw) }
