package egress_test

import (
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rowlock/rowlock/internal/egress"
	"github.com/rowlock/rowlock/internal/farside"
	"github.com/rowlock/rowlock/internal/gateway"
)

// Answers in forms that are rare, and right.
func TestSendTakesEveryFormOfAnswer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer string
		status int
		body   string
	}{
		"HTTP/1.0":                      {"HTTP/1.0 200 OK\r\n\r\nuntil the end", 200, "until the end"},
		"HTTP/1.0 with a length":        {"HTTP/1.0 201 Created\r\nContent-Length: 2\r\n\r\nok", 201, "ok"},
		"no length":                     {"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nuntil the end", 200, "until the end"},
		"chunked with trailers":         {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n3\r\nabc\r\n0\r\nX-Sum: 1\r\n\r\n", 200, "abc"},
		"trailers that nobody promised": {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n0\r\nX-Sum: 1\r\n\r\n", 200, "abc"},
		"gzip":                          {"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\n\x1f\x8b\x08\x00", 200, "\x1f\x8b\x08\x00"},
		"100 first":                     {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 200, ""},
		"102 and 103 first":             {"HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 202 Accepted\r\nContent-Length: 1\r\n\r\nx", 202, "x"},
		"204 with a body":               {"HTTP/1.1 204 No Content\r\nContent-Length: 4\r\n\r\nbody", 204, ""},
		"205":                           {"HTTP/1.1 205 Reset Content\r\nContent-Length: 0\r\n\r\n", 205, ""},
		"no reason":                     {"HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", 200, ""},
		"bare line feeds":               {"HTTP/1.1 200 OK\nContent-Length: 2\n\nok", 200, "ok"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address := farside.Serve(t, farside.Answer(c.answer))
			result := post(t, newClient(t, egress.Options{Allow: loopback}), "http://"+address, "x")
			if result.Outcome != gateway.OutcomeSucceeded || result.Status != c.status || string(result.Body) != c.body || result.Detail != "" {
				t.Errorf("%s %d %q: %s", result.Outcome, result.Status, result.Body, result.Detail)
			}
		})
	}
}

// What a receiver sends beyond a whole answer is no answer to the next request:
// neither may it confirm one, nor have one sent twice.
func TestSendIsNotConfusedByBytesAfterAnAnswer(t *testing.T) {
	t.Parallel()
	const sends, extra = 300, "HTTP/1.1 410 Gone\r\nContent-Length: 0\r\n\r\n"
	for name, text := range map[string]string{
		"204 with a body":        "HTTP/1.1 204 No Content\r\nContent-Length: 38\r\n\r\n" + extra,
		"204 with chunks":        "HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n" + extra,
		"after an empty body":    "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n" + extra,
		"after a body":           "HTTP/1.1 202 Accepted\r\nContent-Length: 2\r\n\r\nok" + extra,
		"garbage after an empty": "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\nok",
	} {
		var requests atomic.Int64
		address := farside.Serve(t, farside.Always(text, &requests))
		c := newClient(t, egress.Options{Allow: loopback})
		var confirmed int64
		for range sends {
			switch result := post(t, c, "http://"+address, "x"); {
			case result.Outcome == gateway.OutcomeSucceeded:
				confirmed++
			case result.Kind != gateway.ErrorProtocol:
				t.Fatalf("%s: %s/%s %d %s", name, result.Outcome, result.Kind, result.Status, result.Detail)
			}
		}
		if n := requests.Load(); n > sends || n < confirmed {
			t.Errorf("%s: of %d sends, %d were confirmed and %d arrived", name, sends, confirmed, n)
		}
	}
}

func TestSendTellsWhereARedirectLeads(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ answer, want string }{
		"elsewhere":    {"302 Found\r\nLocation: https://new.example/in?a=b", "302 leads to https://new.example/in?a=b. "},
		"on this host": {"308 Permanent Redirect\r\nLocation: /other", "/other. Redirects are not followed"},
		"nowhere":      {"301 Moved Permanently", "leads nowhere"},
		"no address":   {"307 Temporary Redirect\r\nLocation: http://[", "leads to http://[. "},
		"hostile":      {"303 See Other\r\nLocation: https://h/\u202e" + strings.Repeat("x", 300), "leads to https://h/%E2%80%AExxx"},
		"not modified": {"304 Not Modified\r\nLocation: /other", ""},
		"choices":      {"300 Multiple Choices\r\nLocation: /other", ""},
	} {
		address := farside.Serve(t, farside.Answer("HTTP/1.1 "+c.answer+"\r\nContent-Length: 0\r\n\r\n"))
		result := post(t, newClient(t, egress.Options{Allow: loopback}), "http://"+address+"/s3cret", "x")
		if result.Outcome != gateway.OutcomeRejected || !strings.Contains(result.Detail, c.want) || c.want == "" && result.Detail != "" {
			t.Errorf("%s: %s %q, want %q", name, result.Outcome, result.Detail, c.want)
		}
		if len(result.Detail) > 400 || strings.ContainsRune(result.Detail, '\u202e') {
			t.Errorf("%s: %q", name, result.Detail)
		}
	}
}
