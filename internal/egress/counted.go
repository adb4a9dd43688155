package egress

import (
	"crypto/tls"
	"net"
	"sync"
	"sync/atomic"
)

// countedConn counts the bytes that went to the kernel, by which it is known
// whether any of a request left, and those that came from there, by which it
// is known whether an answer can be the request's. With TLS it counts what is
// encrypted.
type countedConn struct {
	net.Conn
	read atomic.Int64

	mu      sync.Mutex // held while writing, so that the count is never behind
	written int64
}

// Write writes and counts.
func (c *countedConn) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n, err := c.Conn.Write(p)
	c.written += int64(n)
	return n, err
}

// Read reads and counts.
func (c *countedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.read.Add(int64(n))
	return n, err
}

// sent is how many bytes were written. It waits for a write that is under way.
func (c *countedConn) sent() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.written
}

// counted finds the countedConn below a connection that net/http shows.
func counted(conn net.Conn) *countedConn {
	if secure, ok := conn.(*tls.Conn); ok {
		conn = secure.NetConn()
	}
	c, _ := conn.(*countedConn)
	return c
}
