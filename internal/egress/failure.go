package egress

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/rowlock/rowlock/internal/gateway"
)

// shownText is how many bytes of the far side's words a detail quotes.
const shownText = 200

// failure is a request that got no answer, or not all of it.
type failure struct {
	peer

	ended   error // why the request's context ended, or nil while it lasts
	timeout time.Duration
	trace   *trace
	policy  *policy
	err     error
	status  int // of an answer whose body broke off, else 0
}

// cause is what a failure is put down to; the zero value is none.
type cause struct {
	kind gateway.ErrorKind
	// happened and todo are sentences for people: what went wrong, and what to
	// do about it.
	happened, todo string
}

func unreachable(kind gateway.ErrorKind, detail string) Result {
	return Result{Outcome: gateway.OutcomeUnreachable, Kind: kind, Detail: detail}
}

// result says what kind of failure it was. The context comes first: whatever
// broke after it ended broke because of it.
func (f failure) result() Result {
	if f.ended != nil && !errors.Is(f.ended, errTimeout) {
		return Result{Cancelled: true, Outcome: gateway.OutcomeUnknown, Detail: "The request was cancelled by Rowlock itself."}
	}
	c := f.cause()
	return unreachable(c.kind, c.happened+f.brokenOff()+" "+c.todo)
}

func (f failure) cause() cause {
	if f.ended != nil {
		return f.gaveUp()
	}
	for _, explain := range []func() cause{f.blocked, f.dns, f.tls, f.connect, f.tooLarge, f.reset} {
		if c := explain(); c.kind != "" {
			return c
		}
	}
	return f.notHTTP()
}

// brokenOff adds the status of an answer that had begun.
func (f failure) brokenOff() string {
	if f.status == 0 {
		return ""
	}
	return fmt.Sprintf(" The answer had begun, with status %d.", f.status)
}

// tooLarge recognises net/http's header limit, which has no error of its own.
func (f failure) tooLarge() cause {
	if !strings.Contains(f.err.Error(), "response headers exceeded") {
		return cause{}
	}
	return cause{
		gateway.ErrorTooLarge,
		fmt.Sprintf("The headers of the answer are larger than %d KiB.", maxResponseHeader>>10),
		"Answer with fewer or shorter headers.",
	}
}

func (f failure) reset() cause {
	if !broken(f.err) {
		return cause{}
	}
	return f.closedEarly()
}

func (f failure) closedEarly() cause {
	return cause{
		gateway.ErrorReset, f.at() + " closed the connection before its answer was complete.",
		"Look for this moment in the log of the receiver, and of any proxy before it.",
	}
}

// tlsAnswer begins what a server that expects TLS says to plain http.
const tlsAnswer = `response "\x15\x03`

// notHTTP is the cause of whatever else breaks an answer.
func (f failure) notHTTP() cause {
	said := strings.TrimPrefix(quote(f.err), "malformed HTTP ")
	if errors.Is(f.err, errEarly) {
		return cause{
			gateway.ErrorProtocol, f.at() + " had sent more than its answer to the request before, so what answers this one is not known.",
			"Send no body with 204 or 304, and no more bytes than Content-Length says.",
		}
	}
	if strings.HasPrefix(said, tlsAnswer) {
		return cause{gateway.ErrorProtocol, f.at() + " speaks TLS, and was sent plain http.", overTLS}
	}
	return cause{
		gateway.ErrorProtocol, fmt.Sprintf("What %s sent is not valid HTTP: %s.", f.at(), said),
		"Check that the URL leads to a web server, by its scheme and port.",
	}
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

// quote returns an error's words, without what net/http says of itself.
func quote(err error) string {
	text := err.Error()
	for _, noise := range []string{"net/http: HTTP/1.x transport connection broken: ", "readLoopPeekFailLocked: "} {
		text = strings.TrimPrefix(text, noise)
	}
	if text == "%!w(<nil>)" { // net/http has no words for this
		return "it began before the request was sent"
	}
	return cut(text)
}

// cut returns a text of the far side, cut and with nothing but printable
// characters.
func cut(text string) string {
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
