package egress_test

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	"github.com/rowlock/rowlock/internal/egress"
	"github.com/rowlock/rowlock/internal/farside"
	"github.com/rowlock/rowlock/internal/gateway"
)

// The one more address of a request is reached by it, by its number alone, and by no
// other request: not at another port, and not over a connection that it left.
func TestSendReachesOneMoreAddress(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(server.Close)
	here := netip.MustParseAddrPort(server.Listener.Addr().String())
	other := netip.AddrPortFrom(here.Addr(), here.Port()^1)
	c := newClient(t, egress.Options{Resolver: farside.Names(t, map[string]string{"loop.test": "127.0.0.1"})})
	send := func(url string, also netip.AddrPort) egress.Result {
		return c.Send(t.Context(), egress.Request{URL: url, Body: []byte("x"), Timeout: patience, Also: also})
	}
	for range 2 {
		for _, url := range []string{server.URL, "http://[::ffff:127.0.0.1]:" + portOf(server)} {
			if result := send(url, here); result.Outcome != gateway.OutcomeSucceeded {
				t.Errorf("%s: %s %s", url, result.Outcome, result.Detail)
			}
		}
		for url, also := range map[string]netip.AddrPort{
			server.URL:                            {},
			server.URL + "/other":                 other,
			"http://loop.test:" + portOf(server):  here,
			"https://loop.test:" + portOf(server): here,
		} {
			if result := send(url, also); result.Kind != gateway.ErrorBlocked {
				t.Errorf("%s with %s: %s/%s %s", url, also, result.Outcome, result.Kind, result.Detail)
			}
		}
	}
	if err := c.CheckURLWith(server.URL, here); err != nil {
		t.Errorf("the address cannot be saved: %v", err)
	}
	if c.CheckURLWith(server.URL, other) == nil || c.CheckURL(server.URL) == nil {
		t.Error("it can be saved by who may not reach it")
	}
}

// What is never reached is not reached as one more address either.
func TestSendNeverReachesItsOwn(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(server.Close)
	here := netip.MustParseAddrPort(server.Listener.Addr().String())
	c := newClient(t, egress.Options{Deny: []netip.AddrPort{here}})
	result := c.Send(t.Context(), egress.Request{URL: server.URL, Timeout: patience, Also: here})
	expect(t, result, gateway.ErrorBlocked, "own listeners")
	if c.CheckURLWith(server.URL, here) == nil {
		t.Error("it can be saved")
	}
	metadata := netip.MustParseAddrPort("169.254.169.254:80")
	expect(t, c.Send(t.Context(), egress.Request{URL: "http://169.254.169.254", Timeout: patience, Also: metadata}), gateway.ErrorBlocked, "link-local")
}
