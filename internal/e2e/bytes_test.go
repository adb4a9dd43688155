package e2e

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// odd are bodies that a program which decodes and encodes would change.
var odd = map[string]string{
	"NUL":             `{"a":"\u0000"}`,
	"duplicate keys":  `{"b":1,"a":2,"b":3}`,
	"a long integer":  `{"n":12345678901234567890123456789}`,
	"lone surrogate":  `{"s":"\ud800"}`,
	"all and spacing": "{ \"z\" : \"\\u0000\\ud800\",\n\t\"n\":12345678901234567890123456789, \"z\":1.0e2 }",
}

// What came in is what goes out, by either way in, and what is kept.
func TestBytesStayTheSame(t *testing.T) {
	t.Parallel()
	n := startNode(t, onDatabase(t, newDatabase(t, shared)))
	a := newAccount(t, n)
	r := newReceiver(t, func() time.Duration { return 0 })
	want[endpointObject](t, a, http.StatusCreated, http.MethodPost, "/endpoints",
		fmt.Sprintf(`{"url":%q,"secret":%q}`, r.url+everything, r.secret))
	made := want[sourceObject](t, a, http.StatusCreated, http.MethodPost, "/sources", `{"name":"plain","kind":"none"}`)
	address, err := url.Parse(made.IngestURL)
	if err != nil {
		t.Fatalf("the source's address: %v", err)
	}
	plain := source{path: address.Path}
	for name, body := range odd {
		t.Run(name, func(t *testing.T) {
			published := want[eventObject](t, a, http.StatusAccepted, http.MethodPost, "/events", `{"type":"odd.body","data":`+body+`}`)
			wantBody(t, a, r, published.ID, body)
			wantBody(t, a, r, ingest(t, plain, n, body), body)
		})
	}
	if status, answer := a.call(t, http.MethodPost, "/events", []byte(`{"type":"a.b","key":"a\u0000b","data":1}`)); status != http.StatusUnprocessableEntity {
		t.Errorf("a key with NUL: %d %s, want 422", status, answer)
	}
}

// ingest sends a webhook and returns the event's id.
func ingest(t testing.TB, s source, n *node, body string) string {
	t.Helper()
	request, err := s.request(&message{body: []byte(body)}, n.url)
	if err != nil {
		t.Fatalf("make a request: %v", err)
	}
	status, answer := exchange(t, request)
	_, id, _ := strings.Cut(string(answer), `"id":"`)
	id, _, _ = strings.Cut(id, `"`)
	if status != http.StatusOK || id == "" {
		t.Fatalf("webhook: %d %s", status, answer)
	}
	return id
}

// wantBody checks what came of an event, and what is kept of it.
func wantBody(t testing.TB, a *account, r *receiver, event, body string) {
	t.Helper()
	p := place{everything, event}
	waitFor(t, patience, "the event arrives", func() bool { return r.got(p) })
	for _, h := range r.all() {
		if h.event == event && (string(h.body) != body || !h.verified) {
			t.Errorf("sent %q, received %q (verified: %t)", body, h.body, h.verified)
		}
	}
	if status, kept := a.call(t, http.MethodGet, "/events/"+event+"/payload", nil); status != http.StatusOK || string(kept) != body {
		t.Errorf("sent %q, kept %d %q", body, status, kept)
	}
}
