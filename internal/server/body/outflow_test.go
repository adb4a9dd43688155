package body_test

import (
	"bytes"
	"errors"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/server/body"
)

var errNoTime = errors.New("a piece came without a time of its own")

// slowReader is a connection that notes how much it has to take in how long.
type slowReader struct {
	*httptest.ResponseRecorder

	deadlines, longest int
	given              bool
}

// SetWriteDeadline gives the next piece its time.
func (s *slowReader) SetWriteDeadline(time.Time) error {
	s.deadlines++
	s.given = true
	return nil
}

// Write takes a piece.
func (s *slowReader) Write(text []byte) (int, error) {
	if !s.given {
		return 0, errNoTime
	}
	s.given = false
	s.longest = max(s.longest, len(text))
	return s.ResponseRecorder.Write(text)
}

// However long a part is, whoever reads a little of it at a time has the time to.
func TestOutflowInPieces(t *testing.T) {
	t.Parallel()
	const piece = 64 << 10
	text := bytes.Repeat([]byte("0123456789"), 100_000)
	to := &slowReader{ResponseRecorder: httptest.NewRecorder()}
	if n, err := body.Outflow(to).Write(text); n != len(text) || err != nil {
		t.Fatalf("%d written, %v", n, err)
	}
	if !bytes.Equal(to.Body.Bytes(), text) || to.longest > piece || to.deadlines < len(text)/piece || !to.Flushed {
		t.Errorf("%d bytes in pieces of up to %d, within %d times", to.Body.Len(), to.longest, to.deadlines)
	}
}
