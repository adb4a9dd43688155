package server_test

import (
	"errors"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"

	"github.com/rowlock/rowlock/internal/server"
)

func TestPanicsAreAnsweredAndLogged(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.server.AddRoute(http.MethodGet, "/api/v1/test/panic", func(echo.Context) error { panic("hunter2") })
	b.server.AddRoute(http.MethodGet, "/api/v1/test/fault", func(echo.Context) error { return errors.New("hunter2") })
	for _, path := range []string{"/api/v1/test/panic", "/api/v1/test/fault"} {
		got := b.send(t, http.MethodGet, b.url+path, nil)
		checkProblem(t, got, http.StatusInternalServerError, "internal")
		if strings.Contains(string(got.text), "hunter2") {
			t.Errorf("%s shows what went wrong: %s", path, got.text)
		}
		if lines := b.log.String(); !strings.Contains(lines, got.Header.Get("X-Request-Id")) || !strings.Contains(lines, "hunter2") {
			t.Errorf("%s: the log does not tell", path)
		}
	}
	if !strings.Contains(b.log.String(), "middleware_test.go") {
		t.Error("the log does not tell where the panic was")
	}
	if got := b.send(t, http.MethodGet, b.url+"/healthz", nil); got.StatusCode != http.StatusOK {
		t.Errorf("afterwards: %d", got.StatusCode)
	}
}

func TestAccessLogMasksTokens(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.send(t, http.MethodPost, b.url+"/ingest/in_hunter2/hunter2?hunter2=hunter2", "hunter2")
	for _, path := range []string{"//ingest/in_hunter2", "/INGEST/in_hunter2", "/api/v1/../../ingest/in_hunter2/x"} {
		b.send(t, http.MethodPost, b.url+path, "hunter2")
	}
	b.send(t, http.MethodGet, b.url+"/api/v1/events?key=hunter2", nil, "Authorization", "Bearer rk_hunter2")
	lines := b.log.String()
	if strings.Contains(lines, "hunter2") {
		t.Errorf("the log holds a secret:\n%s", lines)
	}
	if !strings.Contains(lines, "path=/ingest/[token]") || !strings.Contains(lines, "path=/api/v1/events") {
		t.Errorf("the log does not hold the requests:\n%s", lines)
	}
}

func TestMaskPath(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"/ingest/in_x": "/ingest/[token]", "/ingest/in_x/y/z": "/ingest/[token]", "/ingest/": "/ingest/[token]",
		"/api/v1/sources": "/api/v1/sources", "/": "/", "": "",
		"//ingest/in_x": "//ingest/[token]", "/INGEST/in_x/y": "/INGEST/[token]", "/ingest//in_x": "/ingest/[token]",
		"/api/v1/../../ingest/in_x": "/api/v1/../../ingest/[token]", "/in_x": "/[token]", "/hooks/IN_X": "/hooks/[token]",
		"/x/%69n_" + strings.Repeat("a1", 26) + "/y": "/x/[token]", "/rk_" + strings.Repeat("z", 52): "/[token]",
		"/api/v1/endpoints/main_app": "/api/v1/endpoints/main_app", "/api/v1/endpoints/ep_06h1m3v9c8x7k2q5n4t6w8y0za": "/api/v1/endpoints/ep_06h1m3v9c8x7k2q5n4t6w8y0za",
	} {
		if got := server.MaskPath(path); got != want {
			t.Errorf("MaskPath(%q) = %q, want %q", path, got, want)
		}
	}
}

func TestForwardedAddressesCountOnlyFromTrustedProxies(t *testing.T) {
	t.Parallel()
	stranger := newBundle(t)
	stranger.send(t, http.MethodGet, stranger.url+"/healthz", nil, "X-Forwarded-For", "192.0.2.7", "X-Real-Ip", "192.0.2.7")
	if strings.Contains(stranger.log.String(), "192.0.2.7") {
		t.Error("believed a stranger")
	}
	proxied := newBundle(t, func(d *server.Deps) {
		d.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	})
	proxied.send(t, http.MethodGet, proxied.url+"/healthz", nil, "X-Forwarded-For", "192.0.2.66, 192.0.2.7")
	if lines := proxied.log.String(); !strings.Contains(lines, "from=192.0.2.7 ") {
		t.Errorf("did not believe the proxy:\n%s", lines)
	}
}
