package egress

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"net/netip"
	"time"
)

const (
	// connectTimeout bounds name look-up and connecting: who does not answer
	// in this time is not there. It also ends the connecting that a request
	// left behind when its own timeout was shorter.
	connectTimeout = 10 * time.Second
	// tlsTimeout bounds the handshake, for the same reasons.
	tlsTimeout = 10 * time.Second
	// idleTimeout is how long an unused connection is kept. It is below the
	// 5 s after which common servers (Node.js, Apache, uvicorn) close theirs,
	// so that a request rarely meets a connection that is being closed. A busy
	// endpoint loses nothing by it.
	idleTimeout = 4 * time.Second
	// maxIdlePerHost keeps as many connections as one endpoint has requests
	// in flight by default.
	maxIdlePerHost = 64
	// maxIdle bounds the file descriptors held by unused connections.
	maxIdle = 1024
	// maxResponseHeader is the most that the answer's headers may take, bytes.
	maxResponseHeader = 64 << 10
	// tlsSessions is for how many hosts a handshake can be shortened.
	tlsSessions = 1024
)

// Options says what a Client may reach. The zero value reaches the public
// internet, over https.
type Options struct {
	// Allow lists private networks that may be reached although they are
	// private, by plain http too.
	Allow []netip.Prefix
	// AllowExact lists single addresses with their port, on the same terms.
	AllowExact []netip.AddrPort
	// Deny lists our own listeners and the database. They are never reached,
	// Allow or not. An unspecified address (0.0.0.0, ::) stands for every
	// address of this machine.
	Deny []netip.AddrPort
	// Resolver resolves names; nil is the system's.
	Resolver *net.Resolver
	// RootCAs are the authorities to trust; nil is the system's.
	RootCAs *x509.CertPool
	// Now tells when an attempt started; nil is time.Now. Durations are
	// measured by the monotonic clock in any case.
	Now func() time.Time
}

// Client sends requests. It is safe for concurrent use. Clients with other
// Options share no connections.
type Client struct {
	options Options
	policy  *policy
	secure  *http.Transport // https
	plain   *http.Transport // http, with its own narrower vetting
	now     func() time.Time
}

// New makes a client. CloseIdle must be called when it is done with.
func New(o Options) *Client {
	c := &Client{options: o, policy: newPolicy(o), now: o.Now}
	if c.now == nil {
		c.now = time.Now
	}
	c.secure = newTransport(o, c.policy.vet)
	c.plain = newTransport(o, c.policy.vetPlain)
	return c
}

// CloseIdle closes the connections that no request uses.
func (c *Client) CloseIdle() {
	c.secure.CloseIdleConnections()
	c.plain.CloseIdleConnections()
}

// newTransport makes a transport that connects only where vet finds nothing
// wrong.
func newTransport(o Options, vet func(netip.AddrPort) error) *http.Transport {
	dialer := &net.Dialer{
		Timeout:        connectTimeout,
		Resolver:       o.Resolver,
		ControlContext: control(vet),
	}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &http.Transport{
		Proxy:       nil, // an address from the environment would evade vetting
		DialContext: dialTCP(dialer),
		TLSClientConfig: &tls.Config{
			MinVersion:         tls.VersionTLS12,
			RootCAs:            o.RootCAs,
			ClientSessionCache: tls.NewLRUClientSessionCache(tlsSessions),
		},
		Protocols:              protocols,
		TLSHandshakeTimeout:    tlsTimeout,
		DisableCompression:     true, // the body is shown and judged as it came
		MaxIdleConns:           maxIdle,
		MaxIdleConnsPerHost:    maxIdlePerHost,
		IdleConnTimeout:        idleTimeout,
		MaxResponseHeaderBytes: maxResponseHeader,
	}
}

// dialTCP pins the network, so that nothing but TCP is ever dialled, and
// counts what each connection writes.
func dialTCP(d *net.Dialer) func(ctx context.Context, network, addr string) (net.Conn, error) {
	return func(ctx context.Context, _, addr string) (net.Conn, error) {
		conn, err := d.DialContext(ctx, "tcp", addr)
		if err != nil {
			return nil, err
		}
		return &countedConn{Conn: conn}, nil
	}
}
