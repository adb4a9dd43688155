package body

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"
)

const (
	// stall is how long a long body may stand still.
	stall = 30 * time.Second
	// answerWithin is how long the answer may take once the body is there.
	answerWithin = time.Minute
	// refresh is how often the time is set anew.
	refresh = time.Second
)

// Stream is a body that is read as it comes and takes as long as it takes, as
// long as it does not stand still. Errors are ErrTimeout and ErrBroken, besides
// io.EOF.
func Stream(w http.ResponseWriter, r *http.Request) io.ReadCloser {
	return &stream{ReadCloser: r.Body, control: http.NewResponseController(w)}
}

type stream struct {
	io.ReadCloser

	control *http.ResponseController
	// set is when the time was set last.
	set time.Time
}

// Read reads a part, and gives the next one its time.
func (s *stream) Read(into []byte) (int, error) {
	if now := time.Now(); now.Sub(s.set) > refresh {
		s.set = now
		// A connection that knows no deadlines, as in tests, has none to move.
		_ = s.control.SetReadDeadline(now.Add(stall))
		_ = s.control.SetWriteDeadline(now.Add(stall + answerWithin))
	}
	n, err := s.ReadCloser.Read(into)
	switch {
	case err == nil || errors.Is(err, io.EOF):
		return n, err
	case errors.Is(err, os.ErrDeadlineExceeded):
		return n, ErrTimeout
	}
	return n, fmt.Errorf("%w: %w", ErrBroken, err)
}
