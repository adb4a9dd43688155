package server_test

import (
	"io"
	"net"
	"net/url"
	"sync"
	"testing"
)

// wire carries connections to a database until it is cut.
type wire struct {
	listener net.Listener
	target   string
	copying  sync.WaitGroup

	mu    sync.Mutex
	ended bool
	conns []net.Conn
}

// newWire returns the address of a database over a wire, and what cuts it:
// open connections break, new ones are refused.
func newWire(t testing.TB, database string) (over string, cut func()) {
	t.Helper()
	address, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	var config net.ListenConfig
	w := &wire{target: address.Host}
	if w.listener, err = config.Listen(t.Context(), "tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	w.copying.Go(w.serve)
	t.Cleanup(w.cut)
	address.Host = w.listener.Addr().String()
	return address.String(), w.cut
}

func (w *wire) serve() {
	for {
		near, err := w.listener.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial("tcp", w.target)
		if err != nil {
			_ = near.Close()
			continue
		}
		w.keep(near, far)
		w.copying.Go(func() { forward(near, far) })
		w.copying.Go(func() { forward(far, near) })
	}
}

// forward copies one direction and then ends both.
func forward(to, from net.Conn) {
	_, _ = io.Copy(to, from)
	_ = to.Close()
	_ = from.Close()
}

func (w *wire) keep(conns ...net.Conn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.conns = append(w.conns, conns...)
	if w.ended {
		closeAll(w.conns)
	}
}

func (w *wire) cut() {
	_ = w.listener.Close()
	w.mu.Lock()
	w.ended = true
	closeAll(w.conns)
	w.mu.Unlock()
	w.copying.Wait()
}

func closeAll(conns []net.Conn) {
	for _, c := range conns {
		_ = c.Close()
	}
}
