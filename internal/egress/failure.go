package egress

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/rowlock/rowlock/internal/gateway"
)

// shownText is how many bytes of the far side's words a detail quotes.
const shownText = 200

// failure is a request that got no answer, or not all of it.
type failure struct {
	ended   error // why the request's context ended, or nil while it lasts
	host    string
	timeout time.Duration
	trace   *trace
	err     error
	status  int // of an answer whose body broke off, else 0
}

func unreachable(kind gateway.ErrorKind, detail string) Result {
	return Result{Outcome: gateway.OutcomeUnreachable, Kind: kind, Detail: detail}
}

// result says what kind of failure it was. The context comes first: whatever
// broke after it ended broke because of it.
func (f failure) result() Result {
	if f.ended != nil {
		return f.gaveUp()
	}
	for _, explain := range []func() (gateway.ErrorKind, string){
		f.blocked, f.dns, f.tls, f.connect, f.tooLarge, f.reset,
	} {
		if kind, detail := explain(); kind != "" {
			return unreachable(kind, detail+f.brokenOff())
		}
	}
	return unreachable(gateway.ErrorProtocol, "The answer is not valid HTTP: "+quote(f.err)+"."+f.brokenOff())
}

// gaveUp tells our timeout from the caller's cancellation.
func (f failure) gaveUp() Result {
	if !errors.Is(f.ended, errTimeout) {
		return Result{Cancelled: true, Outcome: gateway.OutcomeUnknown, Detail: "The request was cancelled by Rowlock itself."}
	}
	doing, _ := f.trace.progress()
	return unreachable(gateway.ErrorTimeout, fmt.Sprintf("No complete answer within %s: stopped while %s.", f.timeout, doing)+f.brokenOff())
}

// brokenOff adds the status of an answer that had begun.
func (f failure) brokenOff() string {
	if f.status == 0 {
		return ""
	}
	return fmt.Sprintf(" The answer had begun, with status %d.", f.status)
}

func (f failure) blocked() (gateway.ErrorKind, string) {
	var blocked *blockedError
	if !errors.As(f.err, &blocked) {
		return "", ""
	}
	return gateway.ErrorBlocked, fmt.Sprintf("%s resolves to an address that must not be reached: %s.", f.host, blocked.rule)
}

// dns explains a failed look-up. The resolver's own words would name the
// operator's name servers.
func (f failure) dns() (gateway.ErrorKind, string) {
	var lookup *net.DNSError
	if !errors.As(f.err, &lookup) {
		return "", ""
	}
	switch {
	case lookup.IsNotFound:
		return gateway.ErrorDNS, f.host + " does not exist: its name has no address."
	case lookup.IsTimeout:
		return gateway.ErrorDNS, "The name server did not answer for " + f.host + "."
	}
	return gateway.ErrorDNS, "The name " + f.host + " could not be looked up."
}

// tls explains a handshake that failed, and an alert after it, by which
// servers refuse a client without certificate.
func (f failure) tls() (gateway.ErrorKind, string) {
	_, handshake := f.trace.progress()
	var op *net.OpError
	alert := errors.As(f.err, &op) && (op.Op == "remote error" || op.Op == "local error")
	if handshake == nil && !alert {
		return "", ""
	}
	var plain tls.RecordHeaderError
	switch {
	case errors.As(handshake, &plain):
		return gateway.ErrorTLS, f.host + " does not speak TLS on this port."
	case timedOut(handshake):
		return gateway.ErrorTimeout, fmt.Sprintf("%s did not finish the TLS handshake within %s.", f.host, tlsTimeout)
	case broken(handshake):
		return gateway.ErrorTLS, f.host + " closed the connection during the TLS handshake."
	}
	return gateway.ErrorTLS, "The TLS connection to " + f.host + " failed: " + quote(f.err) + "."
}

// connect explains a connection that nobody accepted. It says the system's
// reason alone: the whole error names the address.
func (f failure) connect() (gateway.ErrorKind, string) {
	var op *net.OpError
	if !errors.As(f.err, &op) || op.Op != "dial" {
		return "", ""
	}
	if errors.Is(op, syscall.ECONNRESET) { // accepted, and reset before we saw it
		return gateway.ErrorReset, closedEarly(f.host)
	}
	if timedOut(op) {
		return gateway.ErrorTimeout, fmt.Sprintf("%s did not accept a connection within %s.", f.host, connectTimeout)
	}
	reason := "no address can be used"
	if errno, ok := errors.AsType[syscall.Errno](op); ok {
		reason = errno.Error()
	}
	return gateway.ErrorConnect, fmt.Sprintf("%s accepts no connection: %s.", f.host, reason)
}

// tooLarge recognises net/http's header limit, which has no error of its own.
func (f failure) tooLarge() (gateway.ErrorKind, string) {
	if !strings.Contains(f.err.Error(), "response headers exceeded") {
		return "", ""
	}
	return gateway.ErrorTooLarge, fmt.Sprintf("The answer's headers are larger than %d KiB.", maxResponseHeader>>10)
}

func (f failure) reset() (gateway.ErrorKind, string) {
	if !broken(f.err) {
		return "", ""
	}
	return gateway.ErrorReset, closedEarly(f.host)
}

func closedEarly(host string) string {
	return host + " closed the connection before its answer was complete."
}

// broken tells whether an error means that the far side ended a connection.
func broken(err error) bool {
	if err == nil {
		return false
	}
	var op *net.OpError
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.As(err, &op) && (op.Op == "read" || op.Op == "write") ||
		strings.Contains(err.Error(), "server closed idle connection") // has no error of its own either
}

func timedOut(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}

// quote returns an error's words, cut and with nothing but printable
// characters: they may hold what the far side sent.
func quote(err error) string {
	text := err.Error()
	for _, noise := range []string{"net/http: HTTP/1.x transport connection broken: ", "readLoopPeekFailLocked: "} {
		text = strings.TrimPrefix(text, noise)
	}
	if text == "%!w(<nil>)" { // net/http has no words for this
		return "it began before the request was sent"
	}
	if len(text) > shownText {
		text = text[:shownText] + "…" // a character cut in two becomes U+FFFD
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsGraphic(r) {
			return r
		}
		return utf8.RuneError
	}, text)
}
