package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/signature"
)

// payload is a body as a provider sends it, by what testdata/payloads/index.json
// tells of it.
type payload struct {
	File        string            `json:"file"`
	Provider    string            `json:"provider"`
	ContentType string            `json:"content_type"`
	Headers     map[string]string `json:"headers"`
}

// noEvent are the payloads that ask for an answer and are no events.
var noEvent = map[string]string{ // file: the query that comes with it
	"asana_heartbeat.json": "", "slack_url_verification.json": "", "woocommerce_ping.txt": "", "zoom_url_validation.json": "",
	"msgraph_validation.txt": "validationToken=abc",
}

// TestEveryPayload sends each provider's own bodies, signed as the provider
// signs, and has them come out as they went in.
func TestEveryPayload(t *testing.T) {
	t.Parallel()
	n := startNode(t, onDatabase(t, newDatabase(t, shared)))
	a := newAccount(t, n)
	r := newReceiver(t, func() time.Duration { return 0 })
	want[endpointObject](t, a, http.StatusCreated, http.MethodPost, "/endpoints",
		fmt.Sprintf(`{"url":%q,"secret":%q}`, r.url+everything, r.secret))
	for _, p := range payloads(t) {
		t.Run(p.File, func(t *testing.T) { sendPayload(t, a, r, p) })
	}
}

func payloads(t *testing.T) []payload {
	t.Helper()
	index, err := os.ReadFile("testdata/payloads/index.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []payload
	if err := json.Unmarshal(index, &all); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("testdata/payloads/*")
	if err != nil || len(all) != len(files)-1 || len(all) < 50 {
		t.Fatalf("%d payloads, %d files, %v", len(all), len(files), err)
	}
	return all
}

// sendPayload gives the payload a source of its kind, and sends it there.
func sendPayload(t *testing.T, a *account, r *receiver, p payload) {
	t.Helper()
	kind := p.Provider
	if kind == "generic" {
		kind = "none"
	}
	scheme, ok := signature.Lookup(kind)
	if !ok {
		t.Fatalf("no kind %s", kind)
	}
	secret, signing := secretsFor(t, scheme)
	made := want[sourceObject](t, a, http.StatusCreated, http.MethodPost, "/sources",
		fmt.Sprintf(`{"name":%q,"kind":%q%s}`, p.File, kind, secret))
	request := p.request(t, made.IngestURL)
	if p.File != "woocommerce_ping.txt" { // WooCommerce does not sign its ping
		if err := scheme.Sign(&request, signature.Settings{}, signing); err != nil {
			t.Fatal(err)
		}
	}
	status, answer := exchange(t, overHTTP(t, request))
	ids := idsOf(answer)
	if _, greets := noEvent[p.File]; greets {
		if status/100 != 2 || len(ids) > 0 {
			t.Errorf("answered %d %s, want no event", status, answer)
		}
		return
	}
	if status/100 != 2 {
		t.Fatalf("answered %d %s", status, answer)
	}
	wantBodies(t, a, r, made.ID, bodiesOf(t, scheme, request, secret))
}

// secretsFor makes a secret that the kind takes, as a member of the body that
// makes a source, and what signs for it.
func secretsFor(t *testing.T, scheme signature.Scheme) (member, signing string) {
	t.Helper()
	if scheme.Info().Secret.Name == "" {
		return "", ""
	}
	for _, text := range []string{newSecret(), strings.Repeat("AB", 32)} {
		if _, err := scheme.CheckSecret(text); err == nil {
			return fmt.Sprintf(`,"secret":%q`, text), text
		}
	}
	public, private := scheme.NewPair()
	if public == "" {
		t.Fatal("no secret for this kind")
	}
	return fmt.Sprintf(`,"secret":%q`, public), private
}

var oldTime = regexp.MustCompile(`("webhookTimestamp": ?)\d+`)

// request is the payload as its provider sends it. A time in it becomes the
// present one: an old one would be refused.
func (p payload) request(t *testing.T, ingestURL string) signature.Request {
	t.Helper()
	body, err := os.ReadFile(filepath.Join("testdata/payloads", p.File))
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	body = oldTime.ReplaceAll(body, []byte("${1}"+strconv.FormatInt(now.UnixMilli(), 10)))
	request := signature.Request{Method: http.MethodPost, URL: ingestURL, Query: noEvent[p.File], Header: http.Header{}, Body: body, Now: now}
	if request.Query != "" {
		request.URL += "?" + request.Query
	}
	if p.ContentType != "" {
		request.Header.Set("Content-Type", p.ContentType)
	}
	for name, value := range p.Headers {
		request.Header.Set(name, value)
	}
	for _, name := range []string{"Svix-Id", "Webhook-Id"} {
		if request.Header.Get(name) == "" {
			request.Header.Set(name, "msg_"+strconv.FormatInt(now.UnixNano(), 36))
		}
	}
	return request
}

func overHTTP(t testing.TB, r signature.Request) *http.Request {
	t.Helper()
	address, err := url.Parse(r.URL)
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), r.Method, address.String(), bytes.NewReader(r.Body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header = r.Header
	return request
}

// idsOf reads the ids of a receipt; an answer in a provider's own form has none.
func idsOf(answer []byte) []string {
	var receipt struct {
		ID  string   `json:"id"`
		IDs []string `json:"ids"`
	}
	if json.Unmarshal(answer, &receipt) != nil {
		return nil
	}
	if receipt.ID != "" {
		return []string{receipt.ID}
	}
	return receipt.IDs
}

// bodiesOf are the bodies that are due: of a request with several events each
// event's own, once.
func bodiesOf(t *testing.T, scheme signature.Scheme, request signature.Request, secret string) []string {
	t.Helper()
	var stored struct{ Secret string }
	if err := json.Unmarshal([]byte("{"+strings.TrimPrefix(secret, ",")+"}"), &stored); err != nil {
		t.Fatal(err)
	}
	text, err := scheme.CheckSecret(stored.Secret)
	if err != nil {
		t.Fatal(err)
	}
	verified, err := scheme.Verify(request, signature.Settings{}, []signature.Secret{{Value: []byte(text)}})
	if err != nil {
		t.Fatal(err)
	}
	var bodies []string
	keys := map[string]bool{}
	for _, event := range verified.Events {
		if event.Key != "" && keys[event.Key] {
			continue
		}
		keys[event.Key] = true
		if event.Body == nil || len(verified.Events) == 1 {
			event.Body = request.Body
		}
		bodies = append(bodies, string(event.Body))
	}
	return bodies
}

// wantBodies waits until what came of the source has arrived, and compares.
func wantBodies(t *testing.T, a *account, r *receiver, source string, bodies []string) {
	t.Helper()
	var events []string
	waitFor(t, patience, "the events arrive", func() bool {
		events = events[:0]
		for _, e := range list[eventObject](t, a, "/events", "source="+source) {
			if !r.got(place{everything, e.ID}) {
				return false
			}
			events = append(events, e.ID)
		}
		return len(events) == len(bodies)
	})
	var got []string
	for _, h := range r.all() {
		if slices.Contains(events, h.event) {
			got = append(got, string(h.body))
			if !h.verified {
				t.Errorf("event %s came with a wrong signature", h.event)
			}
		}
	}
	slices.Sort(got)
	slices.Sort(bodies)
	if diff := cmp.Diff(bodies, got); diff != "" {
		t.Errorf("bodies (-sent +received):\n%s", diff)
	}
}
