package egress

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"net/url"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
)

const (
	// keptBody is how much of an answer's body is returned, in bytes.
	keptBody = 16 << 10
	// readBody is how much of it is read, in bytes. A longer body is cut
	// there and its connection closed; a shorter one leaves the connection
	// for the next request.
	readBody = 64 << 10
)

// errTimeout is the cause by which our timeout is told from the caller's
// cancellation.
var errTimeout = errors.New("the request took too long")

// Request is one POST.
type Request struct {
	URL    string
	Header http.Header // not changed; names in any case
	// Body is sent as it is. It must never be changed, not even after Send
	// returned: an answer can come before the last of it is on the wire.
	Body []byte
	// Timeout is for everything, from the look-up of the name to the last
	// byte of the answer. It must be positive.
	Timeout time.Duration
	// Also is one more address that may be reached, by plain http too, if the URL
	// names it by its number; never one of our own. What is sent there shares no
	// connection with any other request: another one may not reach it. The zero
	// address is none.
	Also netip.AddrPort
}

// Result is what came of a Request.
type Result struct {
	// Cancelled means that the caller's context ended first. That is no
	// result: it says nothing about the receiver, which may have the request.
	// The outcome is OutcomeUnknown.
	Cancelled bool
	// Outcome is succeeded, rejected or unreachable.
	Outcome gateway.Outcome
	// Kind says why the outcome is unreachable; else it is empty.
	Kind gateway.ErrorKind
	// Detail explains an unreachable outcome to people, and an answer that leads
	// elsewhere: what happened, and what to do about it. It holds no path of the
	// URL and no private address that a name resolved to, but may quote the far
	// side.
	Detail string

	// What was answered; all empty unless an answer came whole (or was cut
	// for its length), that is: succeeded or rejected.
	Status     int
	Header     http.Header
	Body       []byte // the first 16 KiB
	Truncated  bool   // there was more of the body
	RetryAfter string // the header of that name, as it came

	Timing  gateway.Timing
	Started time.Time // UTC
	Took    time.Duration
}

// Send posts a request and reports what came of it. It never follows a
// redirect: any status but 2xx is rejected.
//
// An answer counts when it is complete. If its body does not end in time, or
// breaks off, the outcome is unreachable although a status was seen: a
// receiver that fails while it answers has not confirmed anything.
func (c *Client) Send(ctx context.Context, r Request) Result {
	started, begun := c.now().UTC(), time.Now()
	timed, cancel := context.WithTimeoutCause(ctx, r.Timeout, errTimeout)
	defer cancel()
	t := &trace{}
	result := c.exchange(httptrace.WithClientTrace(timed, t.hooks()), r, t)
	result.Timing = t.timing()
	result.Started, result.Took = started, time.Since(begun)
	return result
}

// exchange sends the request and reads the answer.
func (c *Client) exchange(ctx context.Context, r Request, t *trace) Result {
	u, err := c.parseURL(r.URL, r.Also)
	if err != nil { // saved under other rules
		return unreachable(gateway.ErrorBlocked, "Not sent. "+err.Error()+" "+elsewhere)
	}
	f := failure{peer: peerOf(u), timeout: r.Timeout, trace: t, policy: c.policy}
	resp, err := c.roundTrip(ctx, c.transport(u, r.Also), r, t) //nolint:bodyclose // readAnswer closes it
	if err != nil {
		f.err, f.ended = err, context.Cause(ctx)
		return f.result()
	}
	body, truncated, err := readAnswer(resp)
	if err != nil {
		f.err, f.ended, f.status = err, context.Cause(ctx), resp.StatusCode
		return f.result()
	}
	if announcesMore(resp) {
		t.drop() // before its body is taken for the next answer
	}
	return answered(u, resp, body, truncated)
}

// roundTrip puts the request on the wire once. While it meets kept connections
// that were closed before they took a byte, it tries the next one, and in the
// end a fresh one.
func (c *Client) roundTrip(ctx context.Context, transport *http.Transport, r Request, t *trace) (*http.Response, error) {
	for tries := 0; ; tries++ {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.URL, bytes.NewReader(r.Body))
		if err != nil {
			return nil, fmt.Errorf("make request: %w", err)
		}
		req.Header = outgoing(r.Header)
		req.GetBody = nil // without it, net/http does not send a body again
		resp, err := transport.RoundTrip(req)
		if t.tooEarly() {
			resp, err = nil, refuse(resp, t)
		}
		if err == nil || ctx.Err() != nil || tries == maxIdlePerHost || !t.untouched() {
			return resp, err
		}
	}
}

// errEarly says that what came was not the answer to this request.
var errEarly = errors.New("it was there before the request")

// refuse gives up an answer that was there before its request, and its
// connection: taking it for the answer would confirm what nobody received.
func refuse(resp *http.Response, t *trace) error {
	t.drop()
	if resp != nil {
		_ = resp.Body.Close() // nothing is lost by its error
	}
	return errEarly
}

// outgoing copies headers for net/http, with canonical names: it knows its
// own headers, such as User-Agent, by no other.
//
// The two idempotency headers are the exception. net/http takes a request
// without a body that has one under its canonical name for one that may be
// sent again after it was written, and would do so unseen. In lower case,
// which means the same to receivers, they are headers like any other.
func outgoing(given http.Header) http.Header {
	header := make(http.Header, len(given))
	for name, values := range given {
		switch name = http.CanonicalHeaderKey(name); name {
		case "Idempotency-Key":
			name = "idempotency-key"
		case "X-Idempotency-Key":
			name = "x-idempotency-key"
		}
		header[name] = append(header[name], values...)
	}
	return header
}

// readAnswer reads the body up to the cap and closes it.
func readAnswer(resp *http.Response) (kept []byte, truncated bool, err error) {
	defer func() { _ = resp.Body.Close() }() // nothing is lost by its error
	if resp.StatusCode == http.StatusSwitchingProtocols {
		return nil, false, nil // what follows is not HTTP, and never ends
	}
	kept, err = io.ReadAll(io.LimitReader(resp.Body, keptBody))
	if err != nil {
		return nil, false, err
	}
	if len(kept) < keptBody {
		return kept, false, nil
	}
	more, err := io.Copy(io.Discard, io.LimitReader(resp.Body, readBody-keptBody))
	return kept, more > 0, err
}

// announcesMore tells of an answer that must not have a body and says that it
// has one.
func announcesMore(resp *http.Response) bool {
	if resp.StatusCode != http.StatusNoContent && resp.StatusCode != http.StatusNotModified {
		return false
	}
	length := resp.Header.Get("Content-Length")
	return length != "" && length != "0" || len(resp.TransferEncoding) > 0
}

func answered(u *url.URL, resp *http.Response, body []byte, truncated bool) Result {
	outcome := gateway.OutcomeRejected
	if resp.StatusCode >= 200 && resp.StatusCode <= 299 {
		outcome = gateway.OutcomeSucceeded
	}
	return Result{
		Outcome: outcome, Status: resp.StatusCode, Header: resp.Header, Detail: redirected(u, resp),
		Body: body, Truncated: truncated, RetryAfter: resp.Header.Get("Retry-After"),
	}
}
