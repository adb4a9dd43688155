package body_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/rowlock/rowlock/internal/server/body"
)

const limit = 100 << 10

// request is one of unknown length, unless r is known to the library.
func request(r io.Reader) *http.Request {
	return httptest.NewRequest(http.MethodPost, "/", r)
}

func TestReadReturnsTheBody(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 1, 1000, 64 << 10, limit} {
		want := bytes.Repeat([]byte{0xff, 0}, size/2+1)[:size]
		for name, r := range map[string]io.Reader{"known": bytes.NewReader(want), "unknown": iotest.HalfReader(bytes.NewReader(want))} {
			got, err := body.Read(request(r), limit)
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%d bytes, length %s: %d bytes, %v", size, name, len(got), err)
			}
		}
	}
}

func TestReadStopsAtTheLimit(t *testing.T) {
	t.Parallel()
	tooMuch := strings.Repeat("x", limit+1)
	for name, r := range map[string]io.Reader{"known": strings.NewReader(tooMuch), "unknown": iotest.OneByteReader(strings.NewReader(tooMuch))} {
		_, err := body.Read(request(r), limit)
		var tooLarge *body.TooLargeError
		if !errors.As(err, &tooLarge) || tooLarge.Limit != limit {
			t.Errorf("length %s: %v", name, err)
		}
	}
}

func TestReadTellsWhatBrokeIt(t *testing.T) {
	t.Parallel()
	for cause, want := range map[error]error{os.ErrDeadlineExceeded: body.ErrTimeout, io.ErrUnexpectedEOF: body.ErrBroken} {
		if _, err := body.Read(request(iotest.ErrReader(cause)), limit); !errors.Is(err, want) {
			t.Errorf("%v: %v", cause, err)
		}
	}
}

func TestDrain(t *testing.T) {
	t.Parallel()
	left := strings.NewReader("what nobody read")
	r := request(left)
	if body.Drain(r); left.Len() != 0 {
		t.Errorf("%d bytes left", left.Len())
	}
	waiting := strings.NewReader("what is sent once it is asked for")
	r = request(waiting)
	r.Header.Set("Expect", "100-continue")
	if body.Drain(r); waiting.Len() == 0 {
		t.Error("read a body that its client keeps back")
	}
	endless := &counter{}
	if body.Drain(request(endless)); endless.n > body.MaxDrain+1<<20 {
		t.Errorf("read %d bytes", endless.n)
	}
}

type counter struct{ n int }

func (c *counter) Read(p []byte) (int, error) {
	c.n += len(p)
	return len(p), nil
}
