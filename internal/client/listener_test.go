package client

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// A line on which nothing comes is given up long before the call's own end.
func TestPollOverADeadLine(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) {
		_, _ = io.Copy(io.Discard, q.Body)
		<-q.Context().Done()
	}))
	t.Cleanup(server.Close)
	c, err := New(server.URL, "rk_1")
	if err != nil {
		t.Fatal(err)
	}
	if c.silence != pollSilence {
		t.Errorf("it waits for %s", c.silence)
	}
	c.silence = time.Millisecond
	_, err = c.Poll(t.Context(), "laptop", Asking{})
	if call, ok := errors.AsType[*CallError](err); !ok || !errors.Is(call, errSilent) {
		t.Errorf("got %v", err)
	}
}
