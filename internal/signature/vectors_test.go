package signature

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/gateway"
)

// vectorFile is testdata/KIND/KIND.json: requests of a provider with the
// verdict that is due.
type vectorFile struct {
	Provider string   `json:"provider"`
	Cases    []vector `json:"cases"`
}

// vector is one request. EventID, EventType and Events are pinned only where
// the file names them; null there means that there is none.
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
	Settings        json.RawMessage            `json:"settings"`
	NowUnix         int64                      `json:"now_unix"`
	Expect          string                     `json:"expect"`
	// ExpectStatus is the exact status of the answer; 0 is not pinned.
	ExpectStatus int    `json:"expect_status"`
	ExpectBody   string `json:"expect_response_body"`
	Strictness   string `json:"strictness"`
	Reason       string `json:"reason"`
	// Code is that of the refusal.
	Code           string           `json:"code"`
	EventID        json.RawMessage  `json:"event_id"`
	EventType      json.RawMessage  `json:"event_type"`
	Events         []vectorEvent    `json:"events"`
	Handshake      *vectorHandshake `json:"handshake"`
	DuplicateOf    string           `json:"duplicate_of"`
	NotDuplicateOf string           `json:"not_duplicate_of"`
}

type vectorEvent struct {
	ID   string `json:"event_id"`
	Type string `json:"event_type"`
}

type vectorHandshake struct {
	Status  int               `json:"status"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
	// Capture names where the secret stands that is to be taken.
	Capture string `json:"capture"`
}

// TestVectors runs every request under testdata against its scheme. A kind
// that is a service must come with vectors.
func TestVectors(t *testing.T) {
	t.Parallel()
	for _, scheme := range schemes {
		kind := scheme.Info().Kind
		file := vectorsOf(kind)
		if _, err := os.Stat(file); err != nil {
			if scheme.Info().Service() {
				t.Errorf("kind %s has no vectors: %v", kind, err)
			}
			continue
		}
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			runVectors(t, scheme, loadVectors(t, file))
		})
	}
}

// TestEveryVectorHasItsKind: vectors without a kind would test nothing.
func TestEveryVectorHasItsKind(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		if _, ok := Lookup(filepath.Base(filepath.Dir(file))); !ok {
			t.Errorf("%s is of no kind", file)
		}
	}
}

func vectorsOf(kind string) string { return filepath.Join("testdata", kind, kind+".json") }

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
	keys := map[string][]string{}
	for _, v := range file.Cases {
		t.Run(v.Name, func(t *testing.T) {
			verified, err := scheme.Verify(v.request(t), v.chosen(), v.secrets())
			checkVerdict(t, v, err)
			if err != nil || v.Expect == "reject" {
				return
			}
			checkAnswer(t, scheme, v, verified)
			if v.Handshake != nil {
				return
			}
			checkEvents(t, v, verified)
			for _, event := range verified.Events {
				keys[v.Name] = append(keys[v.Name], event.Key)
			}
			checkDuplicates(t, v, keys)
			checkStoredSecret(t, scheme, v)
		})
	}
}

func checkVerdict(t *testing.T, v vector, err error) {
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
	if v.Code == "" {
		t.Fatalf("no code is pinned for this refusal; it came as %s", refusal.Code)
	}
	if refusal.Code != v.Code {
		t.Errorf("code is %s, want %s (%s)", refusal.Code, v.Code, refusal.Detail)
	}
	if status := refusal.Answer(); v.ExpectStatus != 0 && status != v.ExpectStatus || v.ExpectStatus == 0 && status != http.StatusUnauthorized {
		t.Errorf("status is %d, want %d", status, v.ExpectStatus)
	}
	checkRefusalKeepsSecrets(t, refusal, v.secrets())
}

// checkRefusalKeepsSecrets fails when a refusal repeats a secret. The secret
// “secret” is a word of our own sentences.
func checkRefusalKeepsSecrets(t *testing.T, refusal *Refusal, secrets []Secret) {
	t.Helper()
	if refusal.Detail == "" {
		t.Error("the refusal explains nothing")
	}
	for _, secret := range secrets {
		if text := strings.TrimSpace(string(secret.Value)); text != "" && text != "secret" && strings.Contains(refusal.Error(), text) {
			t.Errorf("the refusal repeats the secret: %v", refusal)
		}
	}
}

// checkAnswer compares the answer with the pinned one, byte for byte.
func checkAnswer(t *testing.T, scheme Scheme, v vector, verified Verified) {
	t.Helper()
	if (v.Handshake != nil) != (verified.Handshake != nil) {
		t.Fatalf("handshake wanted: %v, got %+v", v.Handshake != nil, verified.Handshake)
	}
	if v.Handshake == nil {
		answer := scheme.Accepted(v.request(t))
		if answer == nil {
			answer = &Answer{Status: http.StatusOK}
		}
		if v.ExpectStatus != 0 && answer.Status != v.ExpectStatus {
			t.Errorf("status %d, want %d", answer.Status, v.ExpectStatus)
		}
		if v.ExpectBody != "" && answer.Body != v.ExpectBody {
			t.Errorf("body %q, want %q", answer.Body, v.ExpectBody)
		}
		return
	}
	got, want := verified.Handshake, v.Handshake
	if got.Answer.Status != want.Status || got.Answer.Body != want.Body || got.Detail == "" {
		t.Errorf("answer %+v (%s), want %+v", got.Answer, got.Detail, want)
	}
	for name, value := range want.Headers {
		sent := got.Answer.Header[name]
		switch name {
		case "Content-Type":
			sent = got.Answer.ContentType
		case "X-Content-Type-Options":
			sent = value // every answer of the server carries it
		}
		if sent != value {
			t.Errorf("%s: %q, want %q", name, sent, value)
		}
	}
	if (want.Capture != "") != (got.Secret != "") {
		t.Errorf("captured %q, want what %q holds", got.Secret, want.Capture)
	}
}

func checkEvents(t *testing.T, v vector, verified Verified) {
	t.Helper()
	var got []vectorEvent
	for _, event := range verified.Events {
		got = append(got, vectorEvent{event.ID, event.Type})
	}
	if v.Events != nil {
		if diff := cmp.Diff(v.Events, got); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
	} else if len(got) == 0 {
		t.Fatal("no event came of it")
	}
	if v.EventID != nil {
		if diff := cmp.Diff(pinned(t, v.EventID), got[0].ID); diff != "" {
			t.Errorf("id (-want +got):\n%s", diff)
		}
	}
	if v.EventType != nil {
		if diff := cmp.Diff(pinned(t, v.EventType), got[0].Type); diff != "" {
			t.Errorf("type (-want +got):\n%s", diff)
		}
	}
	if len(v.secrets()) == 1 && verified.Secret != secretID(0) {
		t.Errorf("matched secret %v, want the only one", verified.Secret)
	}
}

// checkDuplicates compares the keys of all events with those of an earlier case:
// all are the same, or none is.
func checkDuplicates(t *testing.T, v vector, keys map[string][]string) {
	t.Helper()
	got := keys[v.Name]
	for _, other := range []string{v.DuplicateOf, v.NotDuplicateOf} {
		if other != "" && len(keys[other]) == 0 {
			t.Errorf("%s is no earlier case that brought an event", other)
		}
	}
	if want := keys[v.DuplicateOf]; v.DuplicateOf != "" && (!slices.Equal(want, got) || slices.Contains(got, "")) {
		t.Errorf("keys %q are not those of %s, %q", got, v.DuplicateOf, want)
	}
	for _, key := range keys[v.NotDuplicateOf] {
		if key != "" && slices.Contains(got, key) {
			t.Errorf("key %q is one of %s too", key, v.NotDuplicateOf)
		}
	}
}

// checkStoredSecret repeats an accepted request with the secrets as they are
// after CheckSecret: what a person pastes and what works must be the same.
func checkStoredSecret(t *testing.T, scheme Scheme, v vector) {
	t.Helper()
	stored := v.secrets()
	for i := range stored {
		text, err := scheme.CheckSecret(" \t" + string(stored[i].Value) + "\r\n")
		if err != nil {
			t.Fatalf("secret refused: %v", err)
		}
		stored[i].Value = []byte(text)
	}
	if _, err := scheme.Verify(v.request(t), v.chosen(), stored); err != nil {
		t.Errorf("refused with the secret as stored: %v", err)
	}
	if err := scheme.CheckSettings(v.Settings); err != nil {
		t.Errorf("settings refused: %v", err)
	}
}

// chosen are the settings of the case. A source without a secret waits for one.
func (v vector) chosen() Settings {
	return Settings{Raw: v.Settings, Capturing: v.Secret == nil && v.Secrets == nil}
}

func (v vector) request(t *testing.T) Request {
	t.Helper()
	request := Request{Method: v.Method, URL: v.URL, Header: http.Header{}, Body: []byte(v.Body), Now: time.Unix(v.NowUnix, 0)}
	if address, err := url.Parse(v.URL); err == nil {
		request.Query = address.RawQuery
	}
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
