// Package farside is what tests send to: receivers that break in every way that
// receivers break in, on real sockets.
package farside

import (
	"bufio"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
)

// Handle is what a far side does with one connection, which is closed
// afterwards.
type Handle func(net.Conn)

// Serve runs a far side that is closer to the wire than net/http's server. It
// returns its address, and ends with the test.
func Serve(t testing.TB, handle Handle) string {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	run(t, listener, handle)
	return listener.Addr().String()
}

// ServeTLS is Serve behind a handshake with this certificate.
func ServeTLS(t testing.TB, certificate tls.Certificate, handle Handle) string {
	t.Helper()
	return Serve(t, func(conn net.Conn) {
		secure := tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12})
		if secure.HandshakeContext(t.Context()) == nil {
			handle(secure)
			_ = secure.Close()
		}
	})
}

// run accepts connections until the test is over, and waits for all of them.
func run(t testing.TB, listener net.Listener, handle Handle) {
	var wg sync.WaitGroup
	var mu sync.Mutex
	var open []net.Conn
	wg.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open = append(open, conn)
			mu.Unlock()
			wg.Go(func() {
				defer func() { _ = conn.Close() }()
				handle(conn)
			})
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		mu.Lock()
		for _, conn := range open {
			_ = conn.Close()
		}
		mu.Unlock()
		wg.Wait()
	})
}

// Answer reads one request and answers it with these bytes.
func Answer(text string) Handle {
	return func(conn net.Conn) {
		if readRequest(bufio.NewReader(conn)) == nil {
			_, _ = io.WriteString(conn, text)
		}
	}
}

// Always answers every request of a connection with these bytes, and counts
// the requests.
func Always(text string, requests *atomic.Int64) Handle {
	return func(conn net.Conn) {
		for r := bufio.NewReader(conn); readRequest(r) == nil; {
			requests.Add(1)
			if _, err := io.WriteString(conn, text); err != nil {
				return
			}
		}
	}
}

// Greet says something before anybody asks, as many protocols begin, and goes
// on listening.
func Greet(text string) Handle {
	return func(conn net.Conn) {
		if _, err := io.WriteString(conn, text); err == nil {
			Hang(conn)
		}
	}
}

// AnswerThenHang is Answer, and says nothing more without closing.
func AnswerThenHang(text string) Handle {
	return func(conn net.Conn) {
		Answer(text)(conn)
		Hang(conn)
	}
}

// readRequest reads one whole request.
func readRequest(r *bufio.Reader) error {
	req, err := http.ReadRequest(r)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, req.Body)
	return err
}

// Hang reads whatever comes until the connection is closed.
func Hang(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) }

// Close ends a connection at once.
func Close(net.Conn) {}

// Reset closes a connection in a way that the peer sees as a reset.
func Reset(conn net.Conn) {
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

// Closed is an address where nobody listens. Its port is taken until the test is
// over, so that nobody else can begin to listen there.
func Closed(t testing.TB) string {
	t.Helper()
	_, address := bind(t)
	return address
}
