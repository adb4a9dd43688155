package egress_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/egress"
	"github.com/rowlock/rowlock/internal/farside"
	"github.com/rowlock/rowlock/internal/gateway"
)

// roots trusts a test server.
func roots(server *httptest.Server) *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(server.Certificate())
	return pool
}

func portOf(server *httptest.Server) string {
	_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	return port
}

// expect fails unless a result is unreachable for this reason, says so in a
// sentence with these words, and carries nothing of an answer.
func expect(t *testing.T, got egress.Result, kind gateway.ErrorKind, words string) {
	t.Helper()
	if got.Outcome != gateway.OutcomeUnreachable || got.Kind != kind || !strings.Contains(got.Detail, words) {
		t.Errorf("got %s/%s %q, want unreachable/%s with %q", got.Outcome, got.Kind, got.Detail, kind, words)
	}
	if !strings.HasSuffix(got.Detail, ".") || strings.Contains(got.Detail, "s3cret") {
		t.Errorf("detail %q is no sentence, or holds the path", got.Detail)
	}
	if got.Status != 0 || got.Header != nil || got.Body != nil || got.RetryAfter != "" {
		t.Errorf("an unreachable result carries an answer: %+v", got)
	}
	if got.Cancelled || got.Took <= 0 || got.Started.IsZero() {
		t.Errorf("cancelled %t, took %v, started %v", got.Cancelled, got.Took, got.Started)
	}
}

func TestSendBrokenAnswers(t *testing.T) {
	t.Parallel()
	long := "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 70<<10) + "\r\n\r\n"
	many := "HTTP/1.1 200 OK\r\n" + strings.Repeat("A: b\r\n", 12<<10) + "\r\n"
	for name, c := range map[string]struct {
		handle func(net.Conn)
		kind   gateway.ErrorKind
		words  string
	}{
		"closes at once":          {farside.Close, gateway.ErrorReset, "closed the connection"},
		"resets at once":          {farside.Reset, gateway.ErrorReset, "closed the connection"},
		"closes after request":    {farside.Answer(""), gateway.ErrorReset, "closed the connection"},
		"closes within headers":   {farside.Answer("HTTP/1.1 200 OK\r\nX: y\r\n"), gateway.ErrorReset, "closed the connection"},
		"closes within body":      {farside.Answer("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"), gateway.ErrorReset, "had begun, with status 200"},
		"closes within chunks":    {farside.Answer("HTTP/1.1 410 Gone\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nabc"), gateway.ErrorReset, "had begun, with status 410"},
		"garbage":                 {farside.Answer("\x00\x1b[31mhello\u202e\r\n\r\n"), gateway.ErrorProtocol, `"\x00\x1b[31mhello\u202e"`},
		"another protocol":        {func(conn net.Conn) { _, _ = io.WriteString(conn, "220 mail ready\r\n"); farside.Hang(conn) }, gateway.ErrorProtocol, "not valid HTTP"},
		"no status":               {farside.Answer("HTTP/1.1 abc OK\r\n\r\n"), gateway.ErrorProtocol, "not valid HTTP"},
		"bad header":              {farside.Answer("HTTP/1.1 200 OK\r\nno colon\r\n\r\n"), gateway.ErrorProtocol, "not valid HTTP"},
		"unknown encoding":        {farside.Answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: x\r\n\r\n"), gateway.ErrorProtocol, "not valid HTTP"},
		"bad chunk":               {farside.Answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"), gateway.ErrorProtocol, "with status 200"},
		"early hints forever":     {farside.Answer(strings.Repeat("HTTP/1.1 103 Early Hints\r\n\r\n", 5000)), gateway.ErrorTooLarge, "64 KiB"},
		"one header too large":    {farside.Answer(long), gateway.ErrorTooLarge, "larger than 64 KiB"},
		"headers too large":       {farside.Answer(many), gateway.ErrorTooLarge, "larger than 64 KiB"},
		"TLS server, plain http":  {farside.Answer("\x15\x03\x01\x00\x02\x02\x46"), gateway.ErrorProtocol, "speaks TLS"},
		"too long to be a status": {farside.Answer(strings.Repeat("x", 100<<10)), gateway.ErrorTooLarge, "64 KiB"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := newClient(t, egress.Options{Allow: loopback})
			expect(t, post(t, client, "http://"+farside.Serve(t, c.handle)+"/s3cret", "body"), c.kind, c.words)
		})
	}
}

func TestSendAllowsLargeHeaders(t *testing.T) {
	t.Parallel()
	address := farside.Serve(t, farside.Answer("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX: "+strings.Repeat("x", 60<<10)+"\r\n\r\n"))
	c := newClient(t, egress.Options{Allow: loopback})
	if result := post(t, c, "http://"+address, ""); result.Outcome != gateway.OutcomeSucceeded {
		t.Errorf("result = %s %s", result.Outcome, result.Detail)
	}
}

func TestSendNobodyThere(t *testing.T) {
	t.Parallel()
	closed := farside.Closed(t)
	_, port, _ := net.SplitHostPort(closed)
	c := newClient(t, egress.Options{Allow: loopback, Resolver: farside.Names(t, map[string]string{"closed.test": "127.0.0.1"})})
	expect(t, post(t, c, "http://"+closed+"/s3cret", ""), gateway.ErrorConnect, "refused the connection")

	result := post(t, c, "http://closed.test:"+port+"/s3cret", "")
	expect(t, result, gateway.ErrorConnect, "closed.test:"+port+" refused the connection")
	if strings.Contains(result.Detail, "127.0.0.1") {
		t.Errorf("detail tells what the name resolves to: %q", result.Detail)
	}
}

func TestSendNameFails(t *testing.T) {
	t.Parallel()
	c := newClient(t, egress.Options{Resolver: farside.Names(t, nil)})
	expect(t, post(t, c, "https://missing.test/s3cret", ""), gateway.ErrorDNS, "no address for missing.test")

	dead := &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Err: io.ErrClosedPipe}
	}}
	c = newClient(t, egress.Options{Resolver: dead})
	expect(t, post(t, c, "https://hooks.test/s3cret", ""), gateway.ErrorDNS, "failed to look up hooks.test")
}

func TestSendTLSFails(t *testing.T) {
	t.Parallel()
	ok := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	server := httptest.NewUnstartedServer(ok)
	server.Config.ErrorLog = quiet
	server.StartTLS()
	t.Cleanup(server.Close)
	demanding := httptest.NewUnstartedServer(ok)
	demanding.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert}
	demanding.Config.ErrorLog = quiet
	demanding.StartTLS()
	t.Cleanup(demanding.Close)
	old := httptest.NewUnstartedServer(ok)
	old.TLS = &tls.Config{MaxVersion: tls.VersionTLS11}
	old.Config.ErrorLog = quiet
	old.StartTLS()
	t.Cleanup(old.Close)
	http := httptest.NewServer(ok)
	t.Cleanup(http.Close)
	resolver := farside.Names(t, map[string]string{"wrong.test": "127.0.0.1", "example.com": "127.0.0.1"})
	trusting := newClient(t, egress.Options{Allow: loopback, RootCAs: roots(server), Resolver: resolver})
	doubting := newClient(t, egress.Options{Allow: loopback, RootCAs: x509.NewCertPool(), Resolver: resolver})

	expect(t, post(t, trusting, "https://wrong.test:"+portOf(server)+"/s3cret", ""), gateway.ErrorTLS, "not for wrong.test")
	expect(t, post(t, doubting, "https://example.com:"+portOf(server)+"/s3cret", ""), gateway.ErrorTLS, "self-signed")
	expect(t, post(t, trusting, "https://example.com:"+portOf(http)+"/s3cret", ""), gateway.ErrorTLS, "does not speak TLS")
	expect(t, post(t, trusting, "https://example.com:"+portOf(demanding)+"/s3cret", ""), gateway.ErrorTLS, "demands a client certificate")
	expect(t, post(t, trusting, "https://example.com:"+portOf(old)+"/s3cret", ""), gateway.ErrorTLS, "neither TLS 1.2 nor 1.3")
	expect(t, post(t, trusting, "https://"+farside.Serve(t, farside.Close)+"/s3cret", ""), gateway.ErrorTLS, "during the TLS handshake")
	resetsHello := func(conn net.Conn) {
		_, _ = conn.Read(make([]byte, 1))
		farside.Reset(conn)
	}
	expect(t, post(t, trusting, "https://"+farside.Serve(t, resetsHello)+"/s3cret", ""), gateway.ErrorTLS, "during the TLS handshake")
}

func TestSendTimesOut(t *testing.T) {
	t.Parallel()
	stuckNames := farside.DeadResolver(t)
	drip := func(conn net.Conn) {
		farside.Answer("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")(conn)
		for ticker := time.NewTicker(time.Millisecond); ; <-ticker.C {
			if _, err := io.WriteString(conn, "."); err != nil {
				ticker.Stop()
				return
			}
		}
	}
	for name, c := range map[string]struct {
		url   string
		words string
	}{
		"look-up":     {"https://stuck.test/s3cret", "look-up of stuck.test did not end"},
		"handshake":   {"https://" + farside.Serve(t, farside.Hang) + "/s3cret", "did not finish the TLS handshake"},
		"answer":      {"http://" + farside.Serve(t, farside.Hang) + "/s3cret", "and then waited"},
		"headers":     {"http://" + farside.Serve(t, farside.AnswerThenHang("HTTP/1.1 2")) + "/s3cret", "No complete answer"},
		"body":        {"http://" + farside.Serve(t, farside.AnswerThenHang("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n")) + "/s3cret", "with status 200"},
		"drip":        {"http://" + farside.Serve(t, drip) + "/s3cret", "with status 200"},
		"unread body": {"http://" + farside.Serve(t, func(conn net.Conn) { waitForClose(t, conn) }) + "/s3cret", "took only a part"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := newClient(t, egress.Options{Allow: loopback, Resolver: stuckNames})
			const timeout = 300 * time.Millisecond
			body := make([]byte, 64<<10)
			if name == "unread body" {
				body = make([]byte, 64<<20) // more than the kernel buffers
			}
			result := client.Send(t.Context(), egress.Request{URL: c.url, Body: body, Timeout: timeout})
			expect(t, result, gateway.ErrorTimeout, c.words)
			if result.Took < timeout || !strings.Contains(result.Detail, "in 300 ms") {
				t.Errorf("took %v: %s", result.Took, result.Detail)
			}
		})
	}
}

// waitForClose holds a connection, reading nothing, until the test is over.
func waitForClose(t *testing.T, _ net.Conn) { <-t.Context().Done() }

func TestSendCancelledIsNoResult(t *testing.T) {
	t.Parallel()
	c := newClient(t, egress.Options{Allow: loopback})
	ctx, cancel := context.WithCancel(t.Context())
	address := farside.Serve(t, func(conn net.Conn) {
		farside.Answer("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n")(conn)
		cancel()
		farside.Hang(conn)
	})
	during := c.Send(ctx, egress.Request{URL: "http://" + address, Timeout: patience})
	before := c.Send(ctx, egress.Request{URL: "http://" + address, Timeout: patience})
	soon, cancelSoon := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancelSoon()
	deadline := c.Send(soon, egress.Request{URL: "http://" + farside.Serve(t, farside.Hang), Timeout: patience})
	for name, result := range map[string]egress.Result{"during": during, "before": before, "the caller's deadline": deadline} {
		if !result.Cancelled || result.Outcome != gateway.OutcomeUnknown || result.Kind != "" || result.Status != 0 {
			t.Errorf("%s: %+v, want cancelled", name, result)
		}
	}
}

func TestSendBlocked(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a blocked request arrived") }))
	t.Cleanup(server.Close)
	own := netip.MustParseAddrPort(server.Listener.Addr().String())
	anyOwn := netip.AddrPortFrom(netip.IPv4Unspecified(), own.Port())
	resolver := farside.Names(t, map[string]string{
		"loop.test": "127.0.0.1", "private.test": "10.1.2.3", "meta.test": "169.254.169.254", "zero.test": "0.0.0.0",
		"public.test": "198.41.0.4", "nat.test": "64:ff9b::7f00:1", "loop6.test": "::1",
	})
	all := []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")}
	for _, c := range []struct {
		name, url, words string
		options          egress.Options
	}{
		{"loopback by name", "https://loop.test:" + portOf(server), "loopback addresses (127.0.0.0/8)", egress.Options{}},
		{"IPv6 loopback by name", "https://loop6.test:" + portOf(server), "loopback addresses (::1/128)", egress.Options{}},
		{"private by name", "https://private.test", "private addresses (10.0.0.0/8)", egress.Options{}},
		{"metadata by name", "http://meta.test", "link-local", egress.Options{Allow: all}},
		{"unspecified by name", "http://zero.test:" + portOf(server), "unspecified", egress.Options{Allow: all}},
		{"NAT64 by name", "https://nat.test:" + portOf(server), "loopback", egress.Options{Allow: []netip.Prefix{netip.MustParsePrefix("64:ff9b::/96")}}},
		{"public by plain http", "http://public.test", "plain http goes only", egress.Options{Allow: loopback}},
		{"our listener by name", "http://loop.test:" + portOf(server), "own listeners", egress.Options{Allow: all, Deny: []netip.AddrPort{own}}},
		{"our listener on all addresses", "http://loop.test:" + portOf(server), "own listeners", egress.Options{Allow: all, AllowExact: []netip.AddrPort{own}, Deny: []netip.AddrPort{anyOwn}}},
		{"literal, saved under other rules", server.URL, "loopback", egress.Options{}},
		{"no URL at all", "gopher", "must begin with https", egress.Options{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.options.Resolver = resolver
			result := post(t, newClient(t, c.options), c.url, "x")
			expect(t, result, gateway.ErrorBlocked, c.words)
			for _, address := range []string{"127.0.0.1", "10.1.2.3", "169.254.169.254", "198.41.0.4"} {
				if strings.Contains(result.Detail, address) {
					t.Errorf("detail tells what the name resolves to: %q", result.Detail)
				}
			}
		})
	}
}

func TestSendReachesWhatIsAllowed(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(server.Close)
	here := netip.MustParseAddrPort(server.Listener.Addr().String())
	resolver := farside.Names(t, map[string]string{"loop.test": "127.0.0.1"})
	other := netip.AddrPortFrom(here.Addr(), here.Port()^1)
	for name, options := range map[string]egress.Options{
		"by network": {Allow: loopback},
		"exactly":    {AllowExact: []netip.AddrPort{here}},
		"beside what is denied": {Allow: loopback, Deny: []netip.AddrPort{
			other, netip.AddrPortFrom(netip.MustParseAddr("10.0.0.5"), here.Port()),
		}},
	} {
		options.Resolver = resolver
		c := newClient(t, options)
		for _, url := range []string{server.URL, "http://loop.test:" + portOf(server), "http://[::ffff:127.0.0.1]:" + portOf(server)} {
			if result := post(t, c, url, "x"); result.Outcome != gateway.OutcomeSucceeded {
				t.Errorf("%s, %s: %s %s", name, url, result.Outcome, result.Detail)
			}
		}
	}
	c := newClient(t, egress.Options{AllowExact: []netip.AddrPort{other}, Resolver: resolver})
	expect(t, post(t, c, "http://loop.test:"+portOf(server), "x"), gateway.ErrorBlocked, "loopback")
}
