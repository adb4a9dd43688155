package egress_test

import (
	"io"
	"log"
	"net/netip"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/rowlock/rowlock/internal/egress"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is the timeout of requests that are expected to end by themselves.
const patience = 30 * time.Second

// past is a deadline by which nothing is waited for.
var past = time.Unix(1, 0)

// loopback is what tests allow, to reach their own far sides.
var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}

// newClient makes a client that is closed with the test.
func newClient(t testing.TB, o egress.Options) *egress.Client {
	t.Helper()
	c := egress.New(o)
	t.Cleanup(c.CloseIdle)
	return c
}

// post sends a body and fails the test when the result was cancelled.
func post(t testing.TB, c *egress.Client, url, body string) egress.Result {
	t.Helper()
	result := c.Send(t.Context(), egress.Request{URL: url, Body: []byte(body), Timeout: patience})
	if result.Cancelled {
		t.Fatalf("cancelled: %+v", result)
	}
	return result
}

// quiet drops what servers say about clients that are meant to fail.
var quiet = log.New(io.Discard, "", 0)
