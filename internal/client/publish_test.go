package client_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/client"
)

// request is what the server saw of a call.
type request struct{ Method, Path, Authorization, ContentType, Body string }

// setup starts a server that gives one answer and reports what it was asked,
// and a client of it.
func setup(t *testing.T, status int, header map[string]string, answer string) (*client.Client, <-chan request) {
	t.Helper()
	seen := make(chan request, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Errorf("read request: %v", err)
		}
		seen <- request{r.Method, r.URL.Path, r.Header.Get("Authorization"), r.Header.Get("Content-Type"), string(body)}
		for name, value := range header {
			w.Header().Set(name, value)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(server.Close)
	return connect(t, server.URL), seen
}

func connect(t *testing.T, server string) *client.Client {
	t.Helper()
	c, err := client.FromEnviron([]string{"ROWLOCK_SERVER=" + server, "ROWLOCK_API_KEY=rk_test"})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestPublishSendsTheBytes(t *testing.T) {
	t.Parallel()
	c, seen := setup(t, http.StatusAccepted, nil, `{"id":"evt_1","type":"order.created","duplicate":false,"created_at":"2026-01-02T03:04:05.000006Z"}`)
	data := `{"b": 1,  "a":"\u0000é<&>","n":12345678901234567890, "a":1e400}`

	got, err := c.Publish(t.Context(), client.Event{Type: "order.created", Subject: `Ann "A" <b>`, Key: "k-1", Data: []byte(data)})
	if err != nil {
		t.Fatal(err)
	}

	want := client.Accepted{ID: "evt_1", Type: "order.created", CreatedAt: time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
	wantRequest := request{
		Method: "POST", Path: "/api/v1/events", Authorization: "Bearer rk_test", ContentType: "application/json",
		Body: `{"type":"order.created","subject":"Ann \"A\" \u003cb\u003e","key":"k-1","data":` + data + `}`,
	}
	if diff := cmp.Diff(wantRequest, <-seen); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
}

func TestPublishLeavesOutWhatIsEmpty(t *testing.T) {
	t.Parallel()
	c, seen := setup(t, http.StatusOK, nil, `{"id":"evt_1","type":"a.b","duplicate":true}`)
	got, err := c.Publish(t.Context(), client.Event{Type: "a.b", Data: []byte("null")})
	if err != nil || !got.Duplicate {
		t.Errorf("got %+v, %v; want a duplicate", got, err)
	}
	if body := (<-seen).Body; body != `{"type":"a.b","data":null}` {
		t.Errorf("sent %s", body)
	}
}

func TestServerBelowAPath(t *testing.T) {
	t.Parallel()
	seen := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen <- r.URL.Path
		_, _ = io.WriteString(w, `{"id":"evt_1"}`)
	}))
	t.Cleanup(server.Close)
	if _, err := connect(t, server.URL+"/hooks/").Publish(t.Context(), client.Event{Type: "a", Data: []byte("1")}); err != nil {
		t.Fatal(err)
	}
	if path := <-seen; path != "/hooks/api/v1/events" {
		t.Errorf("asked for %s", path)
	}
}

func TestPublishExplainsRefusals(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		status     int
		header     map[string]string
		answer     string
		says, hint string
	}{
		"unknown key":       {401, nil, `{"title":"Unauthorized","status":401,"code":"unauthorized","detail":"The API key is not known."}`, "answered 401: The API key is not known (unauthorized)", "ROWLOCK_API_KEY"},
		"weak key":          {403, nil, `{"code":"scope_missing","detail":"d"}`, "(scope_missing)", "publish"},
		"several faults":    {422, nil, `{"code":"invalid","detail":"Two fields are wrong","errors":[{"message":"unknown field","location":"body.tpye"},{"message":"too long"}]}`, "Two fields are wrong; body.tpye: unknown field; too long (invalid)", ""},
		"more than fit":     {422, nil, `{"code":"x","errors":[{"message":"1"},{"message":"2"},{"message":"3"},{"message":"4"},{"message":"5"},{"message":"6"},{"message":"7"}]}`, "; 5; and 2 more (x)", ""},
		"a fault told once": {422, nil, `{"code":"invalid","detail":"body.type: want 1","errors":[{"message":"want 1","location":"body.type"},{"message":"is required","location":"body.data"}]}`, "answered 422: body.type: want 1; body.data: is required (invalid)", ""},
		"storage full":      {429, map[string]string{"Retry-After": "3600"}, `{"code":"storage_full","detail":"d"}`, "(storage_full)", "ROWLOCK_ACCOUNT_STORED_BYTES"},
		"reused key":        {422, nil, `{"code":"idempotency_key_reused","detail":"d"}`, "422", "--key"},
		"reserved type":     {422, nil, `{"code":"type_reserved","detail":"d"}`, "422", "rowlock."},
		"too large":         {413, nil, `{"code":"too_large","detail":"The limit is 1 MiB."}`, "1 MiB", "ROWLOCK_MAX_BODY"},
		"database down":     {503, map[string]string{"Retry-After": "5"}, `{"code":"unavailable","title":"Service Unavailable"}`, "Service Unavailable", "in 5 seconds"},
		"rate limit":        {429, map[string]string{"Retry-After": "1"}, `{"code":"rate_limited"}`, "Too Many Requests", "in 1 second."},
		"date as wait":      {429, map[string]string{"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT"}, ``, "429", "in a moment"},
		"server fault":      {500, nil, `{"code":"internal"}`, "500", "--key"},
		"page of a proxy":   {404, nil, `<html>not here</html>`, "404: Not Found", "ROWLOCK_SERVER"},
		"redirect":          {308, map[string]string{"Location": "https://x.example/api"}, ``, "308", "https://x.example/api"},
		"hostile text":      {400, nil, `{"code":"x","detail":"a\u001b[31mb\u202ec\nd"}`, `a\x1b[31mb\u202ec\nd`, ""},
		"errors not a list": {400, nil, `{"code":"x","errors":"y"}`, "400: Bad Request", "ROWLOCK_SERVER"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, _ := setup(t, tt.status, tt.header, tt.answer)
			_, err := c.Publish(t.Context(), client.Event{Type: "a.b", Data: []byte("1")})
			problem, ok := errors.AsType[*client.Problem](err)
			if !ok || problem.Status != tt.status {
				t.Fatalf("got %v, want a *Problem of status %d", err, tt.status)
			}
			if !strings.Contains(problem.Error(), tt.says) {
				t.Errorf("says %q, want %q in it", problem, tt.says)
			}
			if !strings.Contains(problem.Hint(), tt.hint) || (tt.hint == "") != (problem.Hint() == "") {
				t.Errorf("hint %q, want %q in it", problem.Hint(), tt.hint)
			}
		})
	}
}

func TestPublishExplainsSilence(t *testing.T) {
	t.Parallel()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	stranger := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "hello")
	}))
	t.Cleanup(stranger.Close)
	for name, tt := range map[string]struct{ server, says, hint string }{
		"nobody listens":   {gone.URL, "refused", "rowlock serve"},
		"somebody else":    {stranger.URL, "not one of Rowlock's", "ROWLOCK_SERVER"},
		"name of nothing ": {"http://rowlock.invalid", "call http://rowlock.invalid: ", "rowlock serve"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := connect(t, tt.server).Publish(t.Context(), client.Event{Type: "a.b", Data: []byte("1")})
			call, ok := errors.AsType[*client.CallError](err)
			if !ok || !strings.Contains(call.Error(), tt.says) || !strings.Contains(call.Hint(), tt.hint) {
				t.Errorf("got %v, want a *CallError that says %q and hints at %q", err, tt.says, tt.hint)
			}
		})
	}
}
