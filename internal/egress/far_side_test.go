package egress_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/net/dns/dnsmessage"

	"github.com/rowlock/rowlock/internal/egress"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is the timeout of requests that are expected to end by themselves.
const patience = 30 * time.Second

// loopback is what tests allow, to reach their own far sides.
var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}

// newClient makes a client that is closed with the test.
func newClient(t testing.TB, o egress.Options) *egress.Client {
	t.Helper()
	c := egress.New(o)
	t.Cleanup(c.CloseIdle)
	return c
}

// post sends a body and fails the test when the result was cancelled.
func post(t testing.TB, c *egress.Client, url, body string) egress.Result {
	t.Helper()
	result := c.Send(t.Context(), egress.Request{URL: url, Body: []byte(body), Timeout: patience})
	if result.Cancelled {
		t.Fatalf("cancelled: %+v", result)
	}
	return result
}

// serve runs a far side that is closer to the wire than net/http's server:
// handle gets each connection. It returns the address.
func serve(t testing.TB, handle func(net.Conn)) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
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
	return listener.Addr().String()
}

// answer reads one request and answers it with these bytes.
func answer(bytes string) func(net.Conn) {
	return func(conn net.Conn) {
		if readRequest(bufio.NewReader(conn)) == nil {
			_, _ = io.WriteString(conn, bytes)
		}
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

// hang reads whatever comes until the connection is closed.
func hang(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) }

// reset closes a connection in a way that the peer sees as a reset.
func reset(conn net.Conn) {
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

// names makes a resolver that knows these names alone.
func names(t testing.TB, known map[string]string) *net.Resolver {
	t.Helper()
	var wg sync.WaitGroup
	t.Cleanup(wg.Wait)
	return &net.Resolver{
		PreferGo: true,
		Dial: func(context.Context, string, string) (net.Conn, error) {
			near, far := net.Pipe()
			wg.Go(func() {
				defer func() { _ = far.Close() }()
				for resolveOne(far, known) == nil {
				}
			})
			return near, nil
		},
	}
}

// resolveOne answers one question, in the form DNS has over TCP.
func resolveOne(conn net.Conn, known map[string]string) error {
	var size [2]byte
	if _, err := io.ReadFull(conn, size[:]); err != nil {
		return err
	}
	query := make([]byte, int(size[0])<<8|int(size[1]))
	if _, err := io.ReadFull(conn, query); err != nil {
		return err
	}
	var message dnsmessage.Message
	if err := message.Unpack(query); err != nil || len(message.Questions) != 1 {
		return errors.New("not one question")
	}
	resolveMessage(&message, known)
	reply, err := message.AppendPack([]byte{0, 0})
	if err != nil {
		return err
	}
	reply[0], reply[1] = byte((len(reply)-2)>>8), byte(len(reply)-2)
	_, err = conn.Write(reply)
	return err
}

func resolveMessage(message *dnsmessage.Message, known map[string]string) {
	question := message.Questions[0]
	message.Response, message.Additionals = true, nil
	address, ok := known[question.Name.String()]
	if !ok {
		message.RCode = dnsmessage.RCodeNameError
		return
	}
	addr := netip.MustParseAddr(address)
	var body dnsmessage.ResourceBody
	switch {
	case question.Type == dnsmessage.TypeA && addr.Is4():
		body = &dnsmessage.AResource{A: addr.As4()}
	case question.Type == dnsmessage.TypeAAAA && addr.Is6():
		body = &dnsmessage.AAAAResource{AAAA: addr.As16()}
	default:
		return
	}
	header := dnsmessage.ResourceHeader{Name: question.Name, Type: question.Type, Class: dnsmessage.ClassINET}
	message.Answers = []dnsmessage.Resource{{Header: header, Body: body}}
}

// quiet drops what servers say about clients that are meant to fail.
var quiet = log.New(io.Discard, "", 0)
