// Package body reads request bodies within a limit.
package body

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
)

const (
	// firstBuffer is, in bytes, what is set aside before any byte of a body
	// has come: a promise of more costs its sender nothing.
	firstBuffer = 64 << 10
	// MaxDrain is how many bytes that nobody wants are read before an answer
	// goes out: the largest request that is ever accepted.
	MaxDrain = 16 << 20
)

var (
	// ErrTimeout says that the body did not arrive in time.
	ErrTimeout = errors.New("the body did not arrive in time")
	// ErrBroken says that the connection ended, or that what came is not HTTP.
	ErrBroken = errors.New("the body did not arrive whole")
)

// TooLargeError is returned for a body above the limit.
type TooLargeError struct {
	// Limit is in bytes.
	Limit int
}

// Error names the limit.
func (e *TooLargeError) Error() string { return fmt.Sprintf("larger than %d bytes", e.Limit) }

// Read returns the whole body of a request, as it was sent. Errors are
// *TooLargeError, ErrTimeout and ErrBroken.
func Read(r *http.Request, limit int) ([]byte, error) {
	if r.ContentLength > int64(limit) {
		return nil, &TooLargeError{limit}
	}
	var buffer bytes.Buffer
	// One byte more than announced, so that the end is seen without growing.
	buffer.Grow(int(min(max(r.ContentLength, 0)+bytes.MinRead, firstBuffer)))
	_, err := buffer.ReadFrom(io.LimitReader(r.Body, int64(limit)+1))
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, ErrTimeout
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrBroken, err)
	case buffer.Len() > limit:
		return nil, &TooLargeError{limit}
	}
	return buffer.Bytes(), nil
}

// Drain reads and forgets what is left of a body, within MaxDrain. An answer
// that is sent while its request is still under way can be lost: closing a
// connection with unread bytes resets it. A client that waits to be told to
// continue sends nothing before it has the answer.
func Drain(r *http.Request) {
	if r.Body == nil || r.Body == http.NoBody || r.Header.Get("Expect") != "" {
		return
	}
	_, _ = io.CopyN(io.Discard, r.Body, MaxDrain)
}
