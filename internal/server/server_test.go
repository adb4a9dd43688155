package server_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/server"
)

const (
	// lowPort and highPort bound the ports that tests listen on. They are below
	// those that kernels give to outgoing connections, of which tests have many
	// at the same time.
	lowPort, highPort = 10000, 15000
)

// lastPort is the one that was given out last: no two tests get the same.
var lastPort = func() *atomic.Int64 {
	n := &atomic.Int64{}
	n.Store(rand.Int64N(highPort - lowPort))
	return n
}()

// freeAddress finds an address that nobody listens on.
func freeAddress(t testing.TB) string {
	t.Helper()
	var config net.ListenConfig
	for range highPort - lowPort {
		address := net.JoinHostPort("127.0.0.1", strconv.FormatInt(lowPort+lastPort.Add(1)%(highPort-lowPort), 10))
		l, err := config.Listen(t.Context(), "tcp", address)
		if err != nil {
			continue // somebody does
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		return address
	}
	t.Fatal("somebody listens on every port that was tried")
	return ""
}

func TestEveryAnswerCarriesSecurityHeaders(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	for _, path := range []string{"/", "/healthz", "/readyz", "/api/docs", "/api/docs/docs.css", "/api/openapi.json", "/api/v1/events", "/api/v1/nothing", "/ingest/x"} {
		got := b.send(t, http.MethodGet, b.url+path, nil)
		policy := got.Header.Get("Content-Security-Policy")
		if !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe-") {
			t.Errorf("%s: policy %q", path, policy)
		}
		if got.Header.Get("X-Content-Type-Options") != "nosniff" || got.Header.Get("Referrer-Policy") != "same-origin" || got.Header.Get("X-Request-Id") == "" {
			t.Errorf("%s: %v", path, got.Header)
		}
	}
}

func TestRouterRefusesWithProblems(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	for _, c := range []struct {
		method, path string
		status       int
		code         string
	}{
		{http.MethodGet, "/", 404, "not_found"},
		{http.MethodGet, "/api/v1/nothing", 404, "not_found"},
		{http.MethodGet, "/api/v1/", 404, "not_found"},
		{http.MethodGet, "/api/v2/events", 404, "not_found"},
		{http.MethodPut, "/api/v1/events", 405, "method_not_allowed"},
		{http.MethodDelete, "/api/v1/endpoints", 405, "method_not_allowed"},
		{http.MethodPatch, "/api/v1/events/x/payload", 405, "method_not_allowed"},
	} {
		got := b.send(t, c.method, b.url+c.path, nil)
		checkProblem(t, got, c.status, c.code)
		if c.status == 405 && got.Header.Get("Allow") == "" {
			t.Errorf("%s %s: no Allow header", c.method, c.path)
		}
		if allow := got.Header.Get("Allow"); strings.Contains(allow, "GET") != strings.Contains(allow, "HEAD") {
			t.Errorf("%s %s: Allow %q", c.method, c.path, allow)
		}
	}
}

func TestHeadIsAnsweredWhereGetIs(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	n := b.newTenant(t)
	for _, path := range []string{"/healthz", "/readyz", "/api/docs", "/api/openapi.json", "/api/v1/events", "/api/v1/endpoints?limit=1", "/nothing", "/api/v1/events/x"} {
		got := b.send(t, http.MethodGet, b.url+path, nil, "Authorization", "Bearer "+n.key)
		head := b.send(t, http.MethodHead, b.url+path, nil, "Authorization", "Bearer "+n.key)
		if head.StatusCode != got.StatusCode || head.Header.Get("Content-Type") != got.Header.Get("Content-Type") || len(head.text) > 0 {
			t.Errorf("%s: %d %v %q, GET has %d", path, head.StatusCode, head.Header, head.text, got.StatusCode)
		}
	}
	if got := b.send(t, http.MethodHead, b.url+"/ingest/in_x", nil); got.StatusCode != http.StatusNotFound {
		t.Errorf("ingest: %d", got.StatusCode)
	}
	if lines := b.log.String(); !strings.Contains(lines, "method=HEAD path=/healthz") {
		t.Error("the log does not tell HEAD from GET")
	}
	numbers := string(b.send(t, http.MethodGet, b.metrics+"/metrics", nil).text)
	if !strings.Contains(numbers, `rowlock_http_requests_total{method="HEAD",route="/healthz",status="200"} 1`) {
		t.Error("HEAD is not counted as HEAD")
	}
}

func TestAnswersOfTheAPIAreNotCached(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	n := b.newTenant(t)
	answers := map[string]answer{
		"a list":          n.call(http.MethodGet, "/events", nil),
		"a payload":       n.call(http.MethodGet, "/events/"+n.publish(`{"type":"a.b","data":1}`)+"/payload", nil),
		"created":         n.call(http.MethodPost, "/endpoints", `{"url":"`+somewhere+`"}`),
		"refused":         n.call(http.MethodPost, "/endpoints", `{}`),
		"no key":          b.send(t, http.MethodGet, b.url+"/api/v1/events", nil),
		"no route":        n.call(http.MethodGet, "/nothing", nil),
		"no such method":  n.call(http.MethodPut, "/events", nil),
		"a bad parameter": n.call(http.MethodGet, "/events?limit=x", nil),
	}
	for name, got := range answers {
		if values := got.Header.Values("Cache-Control"); len(values) != 1 || values[0] != "no-store" {
			t.Errorf("%s: Cache-Control %q", name, values)
		}
	}
}

func TestReadyNamesWhatIsMissing(t *testing.T) {
	t.Parallel()
	fault := errors.New("host=db.internal user=secret")
	b := newBundle(t, func(d *server.Deps) {
		d.Ready = []server.Check{
			{Name: "database", Ready: func(context.Context) error { return nil }},
			{Name: "migrations", Ready: func(context.Context) error { return fault }},
		}
	})
	got := b.send(t, http.MethodGet, b.url+"/readyz", nil)
	if got.StatusCode != http.StatusServiceUnavailable {
		t.Fatalf("%d %s", got.StatusCode, got.text)
	}
	if want := `{"ready":false,"missing":["migrations"]}`; strings.TrimSpace(string(got.text)) != want {
		t.Errorf("%s, want %s", got.text, want)
	}
	if !strings.Contains(b.log.String(), "db.internal") {
		t.Error("the log does not say why")
	}
}

func TestReadyUntilDraining(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	if got := b.send(t, http.MethodGet, b.url+"/readyz", nil); got.StatusCode != http.StatusOK {
		t.Fatalf("%d %s", got.StatusCode, got.text)
	}
	b.server.Drain()
	if got := b.send(t, http.MethodGet, b.url+"/readyz", nil); got.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("draining: %d %s", got.StatusCode, got.text)
	}
	if got := b.send(t, http.MethodGet, b.url+"/healthz", nil); got.StatusCode != http.StatusOK {
		t.Errorf("alive: %d", got.StatusCode)
	}
	for _, path := range []string{"/api/v1/events", "/ingest/x"} {
		got := b.send(t, http.MethodPost, b.url+path, "{}")
		checkProblem(t, got, http.StatusServiceUnavailable, "stopping")
		if got.Header.Get("Retry-After") == "" {
			t.Errorf("%s: no Retry-After", path)
		}
	}
}

// A server that leaves says so, and takes what still comes until load balancers know.
func TestLeavingGoesOnServing(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.server.Leave(time.Hour) // nobody looks at /readyz
	if got := b.send(t, http.MethodGet, b.url+"/readyz", nil); got.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("leaving: %d %s", got.StatusCode, got.text)
	}
	left := make(chan struct{})
	go func() {
		defer close(left)
		b.server.Leave(time.Hour)
	}()
	if got := b.send(t, http.MethodPost, b.url+"/api/v1/events", "{}"); got.StatusCode != http.StatusUnauthorized {
		t.Errorf("what still comes: %d %s, want it to be looked at", got.StatusCode, got.text)
	}
	select {
	case <-left:
		t.Error("it does not wait for who looks at /readyz")
	default:
	}
	b.server.Drain()
	<-left
	checkProblem(t, b.send(t, http.MethodPost, b.url+"/api/v1/events", "{}"), http.StatusServiceUnavailable, "stopping")
}

func TestRolesThatAreOffHaveNoRoutes(t *testing.T) {
	t.Parallel()
	api := newBundle(t, func(d *server.Deps) { d.ServeIngest = false })
	checkProblem(t, api.send(t, http.MethodPost, api.url+"/ingest/x", "{}"), 404, "not_found")
	ingest := newBundle(t, func(d *server.Deps) { d.ServeAPI = false })
	checkProblem(t, ingest.send(t, http.MethodGet, ingest.url+"/api/v1/events", nil), 404, "not_found")
	checkProblem(t, ingest.send(t, http.MethodGet, ingest.url+"/api/docs", nil), 404, "not_found")
}

func TestAddressInUseStopsTheStart(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	second, err := server.New(server.Deps{Listen: strings.TrimPrefix(b.url, "http://"), Log: discard()})
	if err != nil {
		t.Fatal(err)
	}
	if err := second.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "listen on") {
		t.Errorf("started on an address in use: %v", err)
	}
}

func TestMetricsCountByRoute(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	n := b.newTenant(t)
	n.must(202, http.MethodPost, "/events", `{"type":"a.b","data":1}`, "Idempotency-Key", "k")
	n.must(200, http.MethodPost, "/events", `{"type":"a.b","data":1}`, "Idempotency-Key", "k")
	b.send(t, http.MethodGet, b.url+"/made/up/by/a/stranger", nil)
	numbers := string(b.send(t, http.MethodGet, b.metrics+"/metrics", nil).text)
	for _, want := range []string{
		`rowlock_http_requests_total{method="POST",route="/api/v1/events",status="202"} 1`,
		`rowlock_http_requests_total{method="POST",route="/api/v1/events",status="200"} 1`,
		`rowlock_events_accepted_total{duplicate="false",via="api"} 1`,
		`rowlock_events_accepted_total{duplicate="true",via="api"} 1`,
		"go_goroutines",
	} {
		if !strings.Contains(numbers, want) {
			t.Errorf("no %s", want)
		}
	}
	if strings.Contains(numbers, "stranger") {
		t.Error("an address as it came became a label")
	}
}

func TestProfilesAreOnTheMetricsListenerAlone(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	if got := b.send(t, http.MethodGet, b.metrics+"/debug/pprof/goroutine?debug=1", nil); got.StatusCode != http.StatusOK {
		t.Errorf("profile: %d", got.StatusCode)
	}
	checkProblem(t, b.send(t, http.MethodGet, b.url+"/debug/pprof/goroutine", nil), 404, "not_found")
	checkProblem(t, b.send(t, http.MethodGet, b.url+"/metrics", nil), 404, "not_found")
}
