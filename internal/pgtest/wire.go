package pgtest

import (
	"bytes"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
)

// Wire carries connections to a database. It can lose the answer of a commit,
// and be cut.
type Wire struct {
	listener net.Listener
	target   string
	copying  sync.WaitGroup
	armed    atomic.Bool
	lost     atomic.Int32

	mu    sync.Mutex
	cut   bool
	conns []net.Conn
}

// NewWire returns the address of a database over a wire.
func NewWire(t testing.TB, database string) (*Wire, string) {
	t.Helper()
	address, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	var config net.ListenConfig
	w := &Wire{target: address.Host}
	if w.listener, err = config.Listen(t.Context(), "tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	w.copying.Go(w.serve)
	t.Cleanup(w.close)
	address.Host = w.listener.Addr().String()
	return w, address.String()
}

// LoseCommit has the next commit done, and its answer lost with the connection.
func (w *Wire) LoseCommit() { w.armed.Store(true) }

// Lost is how many answers were lost.
func (w *Wire) Lost() int { return int(w.lost.Load()) }

// Cut ends every connection and lets no new one through, until Mend.
func (w *Wire) Cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cut = true
	w.hangUp()
}

// Mend lets connections through again.
func (w *Wire) Mend() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cut = false
}

// hangUp ends every connection. The caller has the lock.
func (w *Wire) hangUp() {
	for _, c := range w.conns {
		_ = c.Close()
	}
	w.conns = nil
}

func (w *Wire) serve() {
	for {
		near, err := w.listener.Accept()
		if err != nil {
			return
		}
		w.connect(near)
	}
}

func (w *Wire) connect(near net.Conn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cut {
		_ = near.Close()
		return
	}
	far, err := net.Dial("tcp", w.target)
	if err != nil {
		_ = near.Close()
		return
	}
	w.conns = append(w.conns, near, far)
	deaf := &atomic.Bool{}
	w.copying.Go(func() { w.carry(far, near, deaf, true) })
	w.copying.Go(func() { w.carry(near, far, deaf, false) })
}

// commit is how the driver ends a transaction.
var commit = []byte("commit\x00")

// carry copies one direction until it ends, or until what came is an answer
// that nobody shall hear.
func (w *Wire) carry(to, from net.Conn, deaf *atomic.Bool, asking bool) {
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

func (w *Wire) close() {
	_ = w.listener.Close()
	w.Cut()
	w.copying.Wait()
}
