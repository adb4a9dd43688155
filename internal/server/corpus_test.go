package server_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/accept"
	"github.com/rowlock/rowlock/internal/clock"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/server"
	"github.com/rowlock/rowlock/internal/signature"
	"github.com/rowlock/rowlock/internal/source"
)

// corpusCase is one request of the providers' vectors, with what is due.
type corpusCase struct {
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
	ExpectStatus    int                        `json:"expect_status"`
	ExpectBody      string                     `json:"expect_response_body"`
	Strictness      string                     `json:"strictness"`
	Code            string                     `json:"code"`
	EventID         string                     `json:"event_id"`
	EventType       *string                    `json:"event_type"`
	Events          []corpusEvent              `json:"events"`
	Handshake       *struct {
		Status  int               `json:"status"`
		Headers map[string]string `json:"headers"`
		Body    string            `json:"body"`
		Capture string            `json:"capture"`
	} `json:"handshake"`
	DuplicateOf    string `json:"duplicate_of"`
	NotDuplicateOf string `json:"not_duplicate_of"`
}

type corpusEvent struct {
	ID   string `json:"event_id"`
	Type string `json:"event_type"`
}

// composite are the kinds whose events have keys of several parts, of which the
// provider's id is one.
var composite = []string{"adyen", "hubspot", "mailgun", "pagerduty", "woocommerce"}

const corpusDir = "../signature/testdata"

// TestCorpus sends all vectors of all providers through HTTP to a source of
// their kind, at the time that they were signed: what is right is stored with
// its type, what is wrong gets the code that is due, and challenges are
// answered byte for byte.
func TestCorpus(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	n := b.newTenant(t)
	sent := 0
	for _, kind := range signature.Kinds() {
		text, err := os.ReadFile(filepath.Join(corpusDir, kind, kind+".json"))
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		var file struct{ Cases []corpusCase }
		if err := json.Unmarshal(text, &file); err != nil {
			t.Fatal(err)
		}
		for _, c := range file.Cases {
			t.Run(kind+"/"+c.Name, func(t *testing.T) {
				run := corpusRun{tenant: n, kind: kind, corpusCase: c}
				if first := c.DuplicateOf + c.NotDuplicateOf; first != "" {
					for _, other := range file.Cases {
						if other.Name == first {
							run.before = &other
						}
					}
					if run.before == nil {
						t.Fatalf("there is no case %s", first)
					}
				}
				if run.try(t) {
					sent++
				}
			})
		}
	}
	if sent < 700 {
		t.Errorf("%d requests were sent", sent)
	}
}

// corpusRun is a case against a source of its own.
type corpusRun struct {
	*tenant
	corpusCase

	kind   string
	before *corpusCase
	// had is how many events came of the case before.
	had int
}

// try makes the source, sends the request and judges the answer. A secret that
// cannot be saved as the case has it is no case for a server: it tells so.
func (c corpusRun) try(t *testing.T) bool {
	t.Helper()
	scheme, _ := signature.Lookup(c.kind)
	secrets := c.Secrets
	if c.Secret != nil {
		secrets = []string{*c.Secret}
	}
	for _, s := range secrets {
		if stored, err := scheme.CheckSecret(s); err != nil || c.Expect == "reject" && strings.TrimSpace(s) != s && strings.TrimSpace(stored) == stored {
			return false // refused, or mended, when the source is saved
		}
	}
	made := c.source(t, secrets)
	status, header, body := 0, http.Header(nil), ""
	if c.before != nil {
		status, _, body = c.send(t, made, *c.before)
		c.had = len(c.stored(made))
		if status != cmp.Or(c.before.ExpectStatus, http.StatusOK) || c.had == 0 {
			t.Fatalf("the first: %d %s, and %d events", status, body, c.had)
		}
	}
	status, header, body = c.send(t, made, c.corpusCase)
	c.judge(t, made, status, header, body)
	return true
}

// source makes a source that takes the address of the case for its own.
func (c corpusRun) source(t *testing.T, secrets []string) gateway.Source {
	t.Helper()
	address, _, _ := strings.Cut(c.URL, "?")
	if c.NotificationURL != "" {
		address = c.NotificationURL
	}
	chosen := object{"public_url": address}
	if c.Settings != nil {
		if err := json.Unmarshal(c.Settings, &chosen); err != nil {
			t.Fatal(err)
		}
	}
	settings, err := json.Marshal(chosen)
	if err != nil {
		t.Fatal(err)
	}
	sources := source.New(source.Options{Store: c.store, Clock: c.clock})
	in := source.Input{Name: new(c.Name), Kind: new(c.kind), Settings: settings}
	if len(secrets) > 0 {
		in.Secret = &secrets[0]
	}
	made, err := sources.Create(t.Context(), c.account, "test", in)
	if err != nil {
		t.Fatal(err)
	}
	for _, more := range secrets[min(1, len(secrets)):] {
		if _, err := sources.Rotate(t.Context(), c.account, "test", made.ID, more, nil); err != nil {
			t.Fatal(err)
		}
	}
	return made
}

// send sends a request to a server whose clock is that of the case.
func (c corpusRun) send(t *testing.T, made gateway.Source, of corpusCase) (int, http.Header, string) {
	t.Helper()
	serves := httptest.NewServer(c.serverAt(t, of.NowUnix))
	defer serves.Close()
	address, err := url.Parse(of.URL)
	if err != nil {
		t.Fatal(err)
	}
	body := []byte(of.Body)
	if of.BodyBase64 != nil {
		body = of.BodyBase64
	}
	request, err := http.NewRequestWithContext(t.Context(), of.Method, serves.URL+gateway.IngestPath+made.Token+"?"+address.RawQuery, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, raw := range of.Headers {
		var many []string
		if json.Unmarshal(raw, &many) != nil {
			many = []string{""}
			if err := json.Unmarshal(raw, &many[0]); err != nil {
				t.Fatal(err)
			}
		}
		if name != "Content-Length" {
			request.Header[http.CanonicalHeaderKey(name)] = many
		}
	}
	response, err := serves.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, response.Header, string(text)
}

// corpusLead is how much earlier than a case's time its server's clock begins,
// so that a time at the very edge of a tolerance is still within it when the
// request has arrived. Times that are signed with a fraction of a second can be
// out of it by less than a second, and stay so.
const corpusLead = 800 * time.Millisecond

// serverAt makes a server for ingest alone, at another time.
func (c corpusRun) serverAt(t *testing.T, unix int64) http.Handler {
	t.Helper()
	day := time.Unix(unix, 0)
	if _, err := c.store.MakePartitions(t.Context(), day, day.AddDate(0, 0, 1)); err != nil {
		t.Fatal(err)
	}
	then := clock.New()
	now := time.Now()
	then.Observe(now, now, day.Add(-corpusLead))
	log := slog.New(slog.DiscardHandler)
	accepting := accept.New(accept.Options{Store: c.store, Clock: then, Log: log})
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var running sync.WaitGroup
	running.Go(func() { accepting.Run(ctx) })
	t.Cleanup(func() { cancel(); running.Wait() })
	made, err := server.New(server.Deps{
		ServeIngest: true, MaxBody: maxBody, BaseURL: c.url, Store: c.store, Accept: accepting, Now: then.Now, Log: log,
	})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func (c corpusRun) judge(t *testing.T, made gateway.Source, status int, header http.Header, body string) {
	t.Helper()
	switch {
	case c.Strictness == "optional":
		if status >= http.StatusInternalServerError {
			t.Errorf("answered %d %s", status, body)
		}
	case c.Expect == "reject":
		wanted := c.ExpectStatus
		if wanted == 0 {
			wanted = http.StatusUnauthorized
		}
		if status != wanted || !strings.Contains(body, fmt.Sprintf("%q:%q", "code", c.Code)) {
			t.Errorf("answered %d %s, want %d %s", status, body, wanted, c.Code)
		}
	case c.Handshake != nil:
		h := c.Handshake
		if status != h.Status || body != h.Body {
			t.Errorf("answered %d %q, want %d %q", status, body, h.Status, h.Body)
		}
		for name, value := range h.Headers {
			if got, _, _ := strings.Cut(header.Get(name), ";"); got != value {
				t.Errorf("%s: %q, want %q", name, header.Get(name), value)
			}
		}
		c.wantEvents(t, made, 0)
	default:
		if status/100 != 2 || c.ExpectStatus != 0 && status != c.ExpectStatus || c.ExpectBody != "" && body != c.ExpectBody {
			t.Fatalf("answered %d %s", status, body)
		}
		c.wantTold(t, header)
		c.wantEvents(t, made, 1)
	}
}

// wantTold fails unless the answer tells of a repeat that it is one, with all
// its events, and of what is none that it is not.
func (c corpusRun) wantTold(t *testing.T, header http.Header) {
	t.Helper()
	if c.before == nil {
		return
	}
	repeats := 0
	if c.DuplicateOf != "" {
		repeats = c.had
	}
	if got := header.Get("Rowlock-Duplicate"); got != fmt.Sprint(repeats) {
		t.Errorf("%q repeats, want %d", got, repeats)
	}
}

func (c corpusRun) stored(made gateway.Source) []object {
	return entries(c.must(http.StatusOK, http.MethodGet, "/events?source="+made.ID.String()+"&since=1970-01-01T00:00:00Z", nil))
}

// wantEvents compares what is stored of the source.
func (c corpusRun) wantEvents(t *testing.T, made gateway.Source, most int) {
	t.Helper()
	events := c.stored(made)
	wanted := most * max(1, len(c.Events))
	switch {
	case c.DuplicateOf != "":
		wanted = c.had
	case c.NotDuplicateOf != "":
		wanted += c.had
	}
	if len(events) != wanted && (most == 0 || c.Events != nil || c.before != nil || len(events) == 0) {
		t.Fatalf("%d events came of it, want %d: %v", len(events), wanted, events)
	}
	if most == 0 {
		return
	}
	c.wantKeys(t, events)
	types := map[any]int{}
	for _, e := range events {
		types[e["type"]]++
	}
	for _, e := range c.Events {
		types[e.Type]--
		if types[e.Type] < 0 {
			t.Errorf("too few of the type %s", e.Type)
		}
	}
	if c.EventType != nil && types[*c.EventType] == 0 {
		t.Errorf("types %v, want %s", types, *c.EventType)
	}
}

// wantKeys fails unless the provider's ids are the keys of the events, or are in
// them.
func (c corpusRun) wantKeys(t *testing.T, events []object) {
	t.Helper()
	ids := []string{c.EventID}
	for _, e := range c.Events {
		ids = append(ids, e.ID)
	}
	for _, id := range ids {
		found := slices.ContainsFunc(events, func(e object) bool {
			key, _ := e["key"].(string)
			return key == id || slices.Contains(composite, c.kind) && strings.Contains(key, id)
		})
		if id != "" && !found {
			t.Errorf("no event has the key %q: %v", id, events)
		}
	}
}
