package egress

import (
	"crypto/tls"
	"net/http/httptrace"
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

// String completes the sentence "stopped while …".
func (s stage) String() string {
	return [...]string{
		stageConnect: "connecting", stageDNS: "looking up the name", stageTLS: "in the TLS handshake",
		stageWrite: "sending the request", stageWait: "waiting for the answer", stageRead: "reading the answer",
	}[s]
}

// trace follows one request. net/http may go on connecting after the request
// is over, and calls from there: hence the mutex.
type trace struct {
	mu     sync.Mutex
	stage  stage
	times  gateway.Timing
	tlsErr error // the handshake's

	dnsStart, connectStart, tlsStart, gotConn time.Time

	kept    *countedConn // the connection, when it was used before
	written int64        // what it had written then
}

// hooks returns what net/http calls.
func (t *trace) hooks() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		GetConn:           func(string) { t.restart() },
		DNSStart:          func(httptrace.DNSStartInfo) { t.begin(stageDNS, &t.dnsStart) },
		DNSDone:           func(httptrace.DNSDoneInfo) { t.end(&t.dnsStart, &t.times.DNS, nil) },
		ConnectStart:      func(string, string) { t.begin(stageConnect, &t.connectStart) },
		ConnectDone:       func(string, string, error) { t.end(&t.connectStart, &t.times.Connect, nil) },
		TLSHandshakeStart: func() { t.begin(stageTLS, &t.tlsStart) },
		TLSHandshakeDone: func(_ tls.ConnectionState, err error) {
			t.end(&t.tlsStart, &t.times.TLS, err)
		},
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
	t.dnsStart, t.connectStart, t.tlsStart, t.gotConn = time.Time{}, time.Time{}, time.Time{}, time.Time{}
}

// begin enters a stage on the way to a connection. With several addresses,
// connecting began with the first one. Once there is a connection, what goes
// on beside it does not count.
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

// end leaves a stage and notes how long it took.
func (t *trace) end(start *time.Time, took *time.Duration, tlsErr error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.gotConn.IsZero() {
		t.stage, t.tlsErr = stageConnect, tlsErr
		*took = time.Since(*start)
	}
}

// connected notes that there is a connection. One that is used again took no
// time to make.
func (t *trace) connected(info httptrace.GotConnInfo) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stage, t.gotConn, t.tlsErr = stageWrite, time.Now(), nil
	if info.Reused {
		t.times = gateway.Timing{}
		if t.kept = counted(info.Conn); t.kept != nil {
			t.written = t.kept.written.Load()
		}
	}
}

// untouched tells whether the request met a kept connection that took not a
// byte of it, because it was closed in the meantime.
func (t *trace) untouched() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.kept != nil && t.kept.written.Load() == t.written
}

// wrote notes that the request is on the wire, unless the answer was faster.
func (t *trace) wrote(info httptrace.WroteRequestInfo) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if info.Err == nil && t.stage == stageWrite {
		t.stage = stageWait
	}
}

func (t *trace) answering() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stage = stageRead
	t.times.FirstByte = time.Since(t.gotConn)
}

// timing returns what is known by now.
func (t *trace) timing() gateway.Timing {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.times
}

// progress returns the stage and the handshake's error.
func (t *trace) progress() (stage, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.stage, t.tlsErr
}
