package deliver_test

import (
	"bytes"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
)

// wire carries connections to a database, and can lose the answer of a commit.
type wire struct {
	listener net.Listener
	target   string
	copying  sync.WaitGroup
	// armed: the next commit is done, and its answer lost with the connection.
	armed atomic.Bool
	lost  atomic.Int32

	mu    sync.Mutex
	conns []net.Conn
}

// newWire returns the address of a database over a wire.
func newWire(t *testing.T, database string) (*wire, string) {
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
	t.Cleanup(w.close)
	address.Host = w.listener.Addr().String()
	return w, address.String()
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
		w.mu.Lock()
		w.conns = append(w.conns, near, far)
		w.mu.Unlock()
		deaf := &atomic.Bool{}
		w.copying.Go(func() { w.carry(far, near, deaf, true) })
		w.copying.Go(func() { w.carry(near, far, deaf, false) })
	}
}

// commit is how the driver ends a transaction.
var commit = []byte("commit\x00")

// carry copies one direction until it ends, or until what came is an answer
// that nobody shall hear.
func (w *wire) carry(to, from net.Conn, deaf *atomic.Bool, asking bool) {
	defer func() { _, _ = to.Close(), from.Close() }()
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if asking && bytes.Contains(buf[:n], commit) && w.armed.CompareAndSwap(true, false) {
			deaf.Store(true)
		}
		if !asking && n > 0 && deaf.Load() {
			w.lost.Add(1)
			return
		}
		if n > 0 {
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func (w *wire) close() {
	_ = w.listener.Close()
	w.mu.Lock()
	for _, c := range w.conns {
		_ = c.Close()
	}
	w.mu.Unlock()
	w.copying.Wait()
}
