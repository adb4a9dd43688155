package e2e

import (
	"errors"
	"io"
	"net"
	"sync"
	"testing"
)

// cable carries connections to an address, as a proxy does. It can be cut.
type cable struct {
	url     string
	to      string
	copying sync.WaitGroup

	mu    sync.Mutex
	isCut bool
	conns []net.Conn
}

// newCable lays a cable to a node.
func newCable(t testing.TB, n *node) *cable {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("listen: %v", err)
	}
	c := &cable{url: "http://" + listener.Addr().String(), to: n.url[len("http://"):]}
	c.copying.Go(func() { c.serve(listener) })
	t.Cleanup(func() {
		_ = listener.Close()
		c.cut()
		c.copying.Wait()
	})
	return c
}

// cut ends every connection, in the middle of whatever they carry, and lets no
// other through until mend.
func (c *cable) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.isCut = true
	for _, conn := range c.conns {
		_ = conn.Close()
	}
	c.conns = nil
}

func (c *cable) mend() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.isCut = false
}

func (c *cable) serve(listener net.Listener) {
	for {
		from, err := listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err == nil {
			c.connect(from)
		}
	}
}

// connect carries one connection, unless it is cut.
func (c *cable) connect(from net.Conn) {
	to, err := net.Dial("tcp", c.to)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil || c.isCut {
		_ = from.Close()
		if err == nil {
			_ = to.Close()
		}
		return
	}
	c.conns = append(c.conns, from, to)
	c.copying.Go(func() { carry(to, from) })
	c.copying.Go(func() { carry(from, to) })
}

// carry copies one way; when that ends, both ways do.
func carry(to, from net.Conn) {
	_, _ = io.Copy(to, from) // a cut is what it is for
	_ = to.Close()
	_ = from.Close()
}
