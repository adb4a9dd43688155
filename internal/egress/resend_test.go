package egress

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
)

var loopbackOnly = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}

// twice sends two requests, of which the second finds the connection of the
// first, and returns their results.
func twice(t *testing.T, c *Client, url string, body []byte) [2]Result {
	t.Helper()
	var results [2]Result
	for i := range results {
		results[i] = c.Send(t.Context(), Request{
			URL: url, Body: body, Timeout: 30 * time.Second,
			Header: http.Header{"Idempotency-Key": {"dlv_1"}, "X-Idempotency-Key": {"own"}},
		})
	}
	return results
}

// A receiver that gets a request and dies without an answer must not get it
// again within the same attempt: only the caller may decide that.
func TestSendNeverRepeatsWhatWasWritten(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*net.TCPConn){
		"closed": func(*net.TCPConn) {},
		"reset":  func(conn *net.TCPConn) { _ = conn.SetLinger(0) },
	} {
		for size, body := range map[string][]byte{"empty": nil, "small": []byte("x"), "large": make([]byte, 100<<10)} {
			t.Run(name+" "+size, func(t *testing.T) {
				t.Parallel()
				address, received := dieOnSecond(t, end)
				c := New(Options{Allow: loopbackOnly})
				t.Cleanup(c.CloseIdle)
				results := twice(t, c, "http://"+address, body)
				if results[0].Outcome != gateway.OutcomeSucceeded || results[1].Kind != gateway.ErrorReset {
					t.Errorf("results = %+v, want succeeded and reset", results)
				}
				if n := received.Load(); n != 2 {
					t.Errorf("the receiver got %d requests, want 2", n)
				}
			})
		}
	}
}

// dieOnSecond runs a receiver that answers the first request of a connection
// and ends it after reading the second. It counts what it reads.
func dieOnSecond(t *testing.T, end func(*net.TCPConn)) (address string, received *atomic.Int32) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	received = new(atomic.Int32)
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				answerOnce(conn, received)
				end(conn.(*net.TCPConn))
				_ = conn.Close()
			})
		}
	})
	t.Cleanup(func() { _ = listener.Close(); wg.Wait() })
	return listener.Addr().String(), received
}

func answerOnce(conn net.Conn, received *atomic.Int32) {
	reader := bufio.NewReader(conn)
	for range 2 {
		req, err := http.ReadRequest(reader)
		if err != nil {
			return
		}
		_, _ = io.Copy(io.Discard, req.Body)
		if received.Add(1) == 1 {
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
		}
	}
}

// A kept connection that breaks before a byte was written costs no attempt.
func TestSendUsesAnotherConnectionWhenNothingWasWritten(t *testing.T) {
	t.Parallel()
	for size, body := range map[string][]byte{"empty": nil, "small": []byte("x"), "large": make([]byte, 100<<10)} {
		t.Run(size, func(t *testing.T) {
			t.Parallel()
			var lengths []int64
			server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				n, _ := io.Copy(io.Discard, r.Body)
				lengths = append(lengths, n)
			}))
			t.Cleanup(server.Close)
			c := New(Options{Allow: loopbackOnly})
			t.Cleanup(c.CloseIdle)
			var made atomic.Int32
			dial := c.plain.DialContext
			c.plain.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
				conn, err := dial(ctx, network, address)
				if err == nil && made.Add(1) == 1 {
					below := conn.(*countedConn)
					below.Conn = &staleConn{Conn: below.Conn}
				}
				return conn, err
			}
			results := twice(t, c, server.URL, body)
			if results[0].Outcome != gateway.OutcomeSucceeded || results[1].Outcome != gateway.OutcomeSucceeded {
				t.Errorf("results = %+v, want two successes", results)
			}
			if len(lengths) != 2 || lengths[1] != int64(len(body)) || made.Load() != 2 {
				t.Errorf("the receiver got bodies of %v bytes over %d connections", lengths, made.Load())
			}
			if results[1].Timing.Connect <= 0 {
				t.Errorf("the second connection took no time: %+v", results[1].Timing)
			}
		})
	}
}

// staleConn is a connection that breaks when a second request is written.
type staleConn struct {
	net.Conn
	used atomic.Bool // an answer was read
}

func (c *staleConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.used.Store(true)
	return n, err
}

func (c *staleConn) Write(p []byte) (int, error) {
	if c.used.Load() {
		return 0, &net.OpError{Op: "write", Net: "tcp", Err: syscall.EPIPE}
	}
	return c.Conn.Write(p)
}

func TestTransportsTakeNothingFromTheEnvironment(t *testing.T) {
	t.Parallel()
	c := New(Options{})
	for _, transport := range []*http.Transport{c.secure, c.plain} {
		if transport.Proxy != nil || transport.Protocols.HTTP2() || transport.Protocols.UnencryptedHTTP2() {
			t.Error("a transport has a proxy or speaks HTTP/2")
		}
	}
}
