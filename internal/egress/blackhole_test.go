package egress_test

import (
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/egress"
	"github.com/rowlock/rowlock/internal/farside"
	"github.com/rowlock/rowlock/internal/gateway"
)

// Of an address that answers nothing, the connection is what took the time.
func TestSendIntoABlackHole(t *testing.T) {
	t.Parallel()
	hole := farside.BlackHole(t)
	c := newClient(t, egress.Options{Allow: loopback})
	const timeout = 500 * time.Millisecond
	result := c.Send(t.Context(), egress.Request{URL: "http://" + hole + "/s3cret", Timeout: timeout})
	expect(t, result, gateway.ErrorTimeout, "No answer in 500 ms. "+hole+" accepted no connection. Check that it is up")
	if got := result.Timing; got.Connect < timeout/2 || got.FirstByte != 0 {
		t.Errorf("timing %+v", got)
	}
}

// A look-up and a handshake that did not end are where the time went, too.
func TestSendMeasuresWhatDidNotEnd(t *testing.T) {
	t.Parallel()
	c := newClient(t, egress.Options{Allow: loopback, Resolver: farside.DeadResolver(t)})
	const timeout = 300 * time.Millisecond
	lookUp := c.Send(t.Context(), egress.Request{URL: "https://stuck.test", Timeout: timeout})
	handshake := c.Send(t.Context(), egress.Request{URL: "https://" + farside.Serve(t, farside.Hang), Timeout: timeout})
	if got := lookUp.Timing; got.DNS < timeout/2 || got.Connect != 0 || got.TLS != 0 {
		t.Errorf("a look-up that does not end: %+v", got)
	}
	if got := handshake.Timing; got.TLS < timeout/2 || got.DNS != 0 {
		t.Errorf("a handshake that does not end: %+v", got)
	}
}
