package egress

import (
	"crypto/tls"
	"net"
	"net/http/httptrace"
	"net/netip"
	"sync"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
)

// stage is what a request was doing.
type stage int

const (
	stageConnect stage = iota // waiting for a connection
	stageDNS
	stageTLS
	stageWrite
	stageWait
	stageRead
)

// trace follows one request. net/http may go on connecting after the request
// is over, and calls from there: hence the mutex.
type trace struct {
	mu     sync.Mutex
	stage  stage
	times  gateway.Timing
	tlsErr error // the handshake's

	dnsStart, connectStart, tlsStart, gotConn time.Time

	dialled string   // the address that was tried last
	conn    net.Conn // what came of it

	kept    *countedConn // the connection, when it was used before
	written int64        // what it had written then
	read    int64        // what it had read then
	early   bool         // an answer was there before the request
}

// hooks returns what net/http calls.
func (t *trace) hooks() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		GetConn:              func(string) { t.restart() },
		DNSStart:             func(httptrace.DNSStartInfo) { t.begin(stageDNS, &t.dnsStart) },
		DNSDone:              func(info httptrace.DNSDoneInfo) { t.end(&t.dnsStart, &t.times.DNS, info.Err) },
		ConnectStart:         func(_, address string) { t.dial(address) },
		ConnectDone:          func(_, _ string, err error) { t.end(&t.connectStart, &t.times.Connect, err) },
		TLSHandshakeStart:    func() { t.begin(stageTLS, &t.tlsStart) },
		TLSHandshakeDone:     func(_ tls.ConnectionState, err error) { t.shook(err) },
		GotConn:              t.connected,
		WroteRequest:         t.wrote,
		GotFirstResponseByte: t.answering,
	}
}

// restart forgets everything: a connection is wanted, perhaps because the one
// before was closed unused.
func (t *trace) restart() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stage, t.times, t.tlsErr, t.kept = stageConnect, gateway.Timing{}, nil, nil
	t.dialled, t.conn, t.early = "", nil, false
	t.dnsStart, t.connectStart, t.tlsStart, t.gotConn = time.Time{}, time.Time{}, time.Time{}, time.Time{}
}

// dial enters the stage of connecting to an address. With several of them,
// connecting began with the first.
func (t *trace) dial(address string) {
	t.begin(stageConnect, &t.connectStart)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.gotConn.IsZero() {
		t.dialled = address
	}
}

// begin enters a stage on the way to a connection. Once there is one, what
// goes on beside it does not count.
func (t *trace) begin(s stage, start *time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.gotConn.IsZero() {
		return
	}
	t.stage = s
	if start.IsZero() {
		*start = time.Now()
	}
}

// end notes how long a stage took, and leaves it if it went well: one that
// failed, or was cut short, is where the request stopped.
func (t *trace) end(start *time.Time, took *time.Duration, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.gotConn.IsZero() {
		return
	}
	*took = time.Since(*start)
	if err == nil {
		t.stage = stageConnect
	}
}

// shook ends the handshake.
func (t *trace) shook(err error) {
	t.end(&t.tlsStart, &t.times.TLS, err)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.gotConn.IsZero() {
		t.tlsErr = err
	}
}

// connected notes that there is a connection. One that is used again took no
// time to make.
func (t *trace) connected(info httptrace.GotConnInfo) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stage, t.gotConn, t.tlsErr, t.conn = stageWrite, time.Now(), nil, info.Conn
	if info.Reused {
		t.times = gateway.Timing{}
		if t.kept = counted(info.Conn); t.kept != nil {
			t.written, t.read = t.kept.sent(), t.kept.read.Load()
		}
	}
}

// untouched tells whether the request met a kept connection that took not a
// byte of it, because it was closed in the meantime.
func (t *trace) untouched() bool {
	t.mu.Lock()
	kept, written := t.kept, t.written
	t.mu.Unlock()
	return kept != nil && kept.sent() == written
}

// drop closes the connection, whatever net/http still means to do with it.
func (t *trace) drop() {
	t.mu.Lock()
	conn := t.conn
	t.mu.Unlock()
	if below := counted(conn); below != nil {
		_ = below.Close() // nothing is lost by its error
	}
}

// tooEarly tells whether the answer was there before the request: then it is
// what the far side sent beyond its answer to the request before.
func (t *trace) tooEarly() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.early
}

// wrote notes that the request is on the wire, unless the answer was faster.
func (t *trace) wrote(info httptrace.WroteRequestInfo) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if info.Err == nil && t.stage == stageWrite {
		t.stage = stageWait
	}
}

// answering notes the first byte of the answer.
func (t *trace) answering() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stage = stageRead
	t.early = t.kept != nil && t.kept.read.Load() == t.read
	t.times.FirstByte = time.Since(t.gotConn)
}

// timing returns what is known by now. A stage on the way to a connection that
// has not ended took the time until now.
func (t *trace) timing() gateway.Timing {
	t.mu.Lock()
	defer t.mu.Unlock()
	times := t.times
	if !t.gotConn.IsZero() {
		return times
	}
	switch t.stage {
	case stageDNS:
		times.DNS = until(times.DNS, t.dnsStart)
	case stageConnect:
		times.Connect = until(times.Connect, t.connectStart)
	case stageTLS:
		times.TLS = until(times.TLS, t.tlsStart)
	case stageWrite, stageWait, stageRead:
	}
	return times
}

// until is how long a stage took, or has taken so far.
func until(took time.Duration, start time.Time) time.Duration {
	if took > 0 || start.IsZero() {
		return took
	}
	return time.Since(start)
}

// progress returns the stage and the handshake's error.
func (t *trace) progress() (stage, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.stage, t.tlsErr
}

// far is the address that was connected to, or tried last; invalid when there
// was none.
func (t *trace) far() netip.Addr {
	t.mu.Lock()
	defer t.mu.Unlock()
	address := t.dialled
	if t.conn != nil {
		address = t.conn.RemoteAddr().String()
	}
	ap, err := netip.ParseAddrPort(address)
	if err != nil {
		return netip.Addr{}
	}
	return ap.Addr().Unmap()
}
