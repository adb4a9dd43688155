package egress_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/egress"
	"github.com/rowlock/rowlock/internal/farside"
	"github.com/rowlock/rowlock/internal/gateway"
)

// site runs an HTTP server and a client that may reach it.
func site(t testing.TB, handler http.HandlerFunc) (*egress.Client, string) {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return newClient(t, egress.Options{Allow: loopback}), server.URL
}

func TestSendWhatTheReceiverGets(t *testing.T) {
	t.Parallel()
	for _, body := range []string{"", `{"n": 1e400, "dup":1,"dup":2}`, strings.Repeat("x", 1<<20)} {
		var got *http.Request
		var gotBody []byte
		c, url := site(t, func(_ http.ResponseWriter, r *http.Request) {
			got = r
			gotBody, _ = io.ReadAll(r.Body)
		})
		header := http.Header{
			"content-type": {"application/json"}, "Webhook-Id": {"evt_1"}, "Idempotency-Key": {"dlv_1"},
			"x-idempotency-key": {"own"}, "user-agent": {"Rowlock/1"},
		}
		before := header.Clone()
		result := c.Send(t.Context(), egress.Request{URL: url + "/in?a=b", Header: header, Body: []byte(body), Timeout: patience})
		if result.Outcome != gateway.OutcomeSucceeded {
			t.Fatalf("result = %+v", result)
		}
		want := http.Header{
			"Content-Type": {"application/json"}, "Webhook-Id": {"evt_1"}, "Idempotency-Key": {"dlv_1"},
			"X-Idempotency-Key": {"own"}, "User-Agent": {"Rowlock/1"}, "Content-Length": {fmt.Sprint(len(body))},
		}
		if diff := cmp.Diff(want, got.Header); diff != "" {
			t.Errorf("headers (-want +got):\n%s", diff)
		}
		if string(gotBody) != body || got.Method != http.MethodPost || got.RequestURI != "/in?a=b" || got.Proto != "HTTP/1.1" || len(got.TransferEncoding) > 0 {
			t.Errorf("got %s %s %s, %d bytes, encoding %v", got.Method, got.RequestURI, got.Proto, len(gotBody), got.TransferEncoding)
		}
		if diff := cmp.Diff(before, header); diff != "" {
			t.Errorf("Send changed the caller's headers:\n%s", diff)
		}
	}
}

func TestSendOutcomeByStatus(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]gateway.Outcome{
		200: gateway.OutcomeSucceeded, 204: gateway.OutcomeSucceeded, 299: gateway.OutcomeSucceeded,
		300: gateway.OutcomeRejected, 301: gateway.OutcomeRejected, 304: gateway.OutcomeRejected, 308: gateway.OutcomeRejected,
		400: gateway.OutcomeRejected, 410: gateway.OutcomeRejected, 429: gateway.OutcomeRejected, 503: gateway.OutcomeRejected, 999: gateway.OutcomeRejected,
	} {
		var calls atomic.Int32
		c, url := site(t, func(w http.ResponseWriter, _ *http.Request) {
			calls.Add(1)
			w.Header().Set("Location", "/elsewhere")
			w.Header().Set("Retry-After", "120")
			w.WriteHeader(status)
		})
		result := post(t, c, url, "x")
		if result.Outcome != want || result.Status != status || result.Kind != "" {
			t.Errorf("%d: %+v, want %s", status, result, want)
		}
		if result.RetryAfter != "120" || result.Header.Get("Location") != "/elsewhere" {
			t.Errorf("%d: Retry-After %q, headers %v", status, result.RetryAfter, result.Header)
		}
		if n := calls.Load(); n != 1 {
			t.Errorf("%d: the receiver was called %d times", status, n)
		}
	}
}

func TestSendKeepsTheBeginningOfTheBody(t *testing.T) {
	t.Parallel()
	const kib = 1 << 10
	for size, truncated := range map[int]bool{0: false, 1: false, 16*kib - 1: false, 16 * kib: false, 16*kib + 1: true, 64 * kib: true, 10 << 20: true} {
		body := bytes.Repeat([]byte("0123456789abcdef"), size/16+1)[:size]
		c, url := site(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(body) })
		result := post(t, c, url, "x")
		if result.Outcome != gateway.OutcomeSucceeded || result.Truncated != truncated || !bytes.Equal(result.Body, body[:min(size, 16*kib)]) {
			t.Errorf("%d bytes: %s, kept %d, truncated %t", size, result.Outcome, len(result.Body), result.Truncated)
		}
	}
}

func TestSendCutsAnEndlessBody(t *testing.T) {
	t.Parallel()
	c, url := site(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTeapot)
		for {
			if _, err := w.Write(make([]byte, 1<<10)); err != nil {
				return
			}
		}
	})
	result := post(t, c, url, "x")
	if result.Outcome != gateway.OutcomeRejected || result.Status != http.StatusTeapot || !result.Truncated {
		t.Errorf("result = %s %d, truncated %t", result.Outcome, result.Status, result.Truncated)
	}
}

func TestSendDoesNotDecompress(t *testing.T) {
	t.Parallel()
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = w.Write(make([]byte, 1<<20))
	_ = w.Close()
	c, url := site(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(packed.Bytes())
	})
	if result := post(t, c, url, "x"); !bytes.Equal(result.Body, packed.Bytes()) {
		t.Errorf("body = %d bytes, want the %d that were sent", len(result.Body), packed.Len())
	}
}

func TestSendDoesNotFollowAnUpgrade(t *testing.T) {
	t.Parallel()
	address := farside.Serve(t, func(conn net.Conn) {
		farside.Answer("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")(conn)
		farside.Hang(conn)
	})
	c := newClient(t, egress.Options{Allow: loopback})
	result := post(t, c, "http://"+address, "x")
	if result.Outcome != gateway.OutcomeRejected || result.Status != 101 {
		t.Errorf("result = %+v", result)
	}
}

func TestSendMeasures(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(server.Close)
	started := time.Date(2030, 1, 2, 3, 4, 5, 0, time.FixedZone("X", 3600))
	c := newClient(t, egress.Options{
		Allow: loopback, RootCAs: roots(server), Resolver: farside.Names(t, map[string]string{"example.com": "127.0.0.1"}),
		Now: func() time.Time { return started },
	})
	url := "https://example.com:" + portOf(server)
	first, second := post(t, c, url, "x"), post(t, c, url, "x")

	if first.Outcome != gateway.OutcomeSucceeded || !first.Started.Equal(started) || first.Started.Location() != time.UTC {
		t.Errorf("first = %+v", first)
	}
	parts := first.Timing
	if parts.DNS <= 0 || parts.Connect <= 0 || parts.TLS <= 0 || parts.FirstByte <= 0 {
		t.Errorf("a part of the first request took no time: %+v", parts)
	}
	if sum := parts.DNS + parts.Connect + parts.TLS + parts.FirstByte; sum > first.Took {
		t.Errorf("the parts took %v, the whole %v", sum, first.Took)
	}
	kept := second.Timing
	if kept.DNS != 0 || kept.Connect != 0 || kept.TLS != 0 || kept.FirstByte <= 0 {
		t.Errorf("on a kept connection: %+v", kept)
	}
}
