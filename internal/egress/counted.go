package egress

import (
	"crypto/tls"
	"net"
	"sync/atomic"
)

// countedConn counts the bytes handed to the kernel, by which it is known
// whether any of a request left. With TLS it counts what is encrypted.
type countedConn struct {
	net.Conn
	written atomic.Int64
}

// Write writes and counts.
func (c *countedConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.written.Add(int64(n))
	return n, err
}

// counted finds the countedConn below a connection that net/http shows.
func counted(conn net.Conn) *countedConn {
	if secure, ok := conn.(*tls.Conn); ok {
		conn = secure.NetConn()
	}
	c, _ := conn.(*countedConn)
	return c
}
