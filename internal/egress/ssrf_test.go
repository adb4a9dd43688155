package egress_test

import (
	"net"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rowlock/rowlock/internal/egress"
	"github.com/rowlock/rowlock/internal/farside"
	"github.com/rowlock/rowlock/internal/gateway"
)

// untouchable is a far side that no request may reach. It returns its port.
func untouchable(t *testing.T) (port string) {
	t.Helper()
	_, port, _ = net.SplitHostPort(farside.Serve(t, func(conn net.Conn) { t.Errorf("a connection came to %s", conn.LocalAddr()) }))
	return port
}

// forbidden are hosts that lead where nothing must be sent, however they are
// written, and the rule that says so.
var forbidden = map[string]string{
	"127.0.0.1": "127.0.0.0/8", "127.9.9.9": "127.0.0.0/8", "127.0.0.1.": "127.0.0.0/8", "[::1]": "::1/128",
	"[::ffff:127.0.0.1]": "127.0.0.0/8", "[::ffff:7f00:1]": "127.0.0.0/8", "[0:0:0:0:0:ffff:127.0.0.1]": "127.0.0.0/8", "[::127.0.0.1]": "127.0.0.0/8",
	"[64:ff9b::7f00:1]": "127.0.0.0/8", "[64:ff9b:1::a9fe:a9fe]": "link-local", "[2002:7f00:1::]": "127.0.0.0/8", "[2001:0:101:101::80ff:fffe]": "127.0.0.0/8",
	"2130706433": "127.0.0.0/8", "0x7f000001": "127.0.0.0/8", "0x7f.1": "127.0.0.0/8", "0x7F.0x0.0x0.0x1": "127.0.0.0/8", "017700000001": "127.0.0.0/8", "0177.0.0.1": "127.0.0.0/8", "127.1": "127.0.0.0/8", "127.0.1": "127.0.0.0/8",
	"１２７.0.0.1": "127.0.0.0/8", "127。0。0。1": "127.0.0.0/8", "127．0．0．1": "127.0.0.0/8", "①②⑦.0.0.1": "127.0.0.0/8", "0Ⅹ7f.1": "127.0.0.0/8",
	"0.0.0.0": "unspecified", "0": "unspecified", "[::]": "unspecified", "[::ffff:0.0.0.0]": "unspecified", "0.0.0.1": "0.0.0.0/8",
	"10.0.0.1": "10.0.0.0/8", "172.16.0.1": "172.16.0.0/12", "192.168.1.1": "192.168.0.0/16", "100.64.0.1": "100.64.0.0/10", "[fc00::1]": "fc00::/7",
	"169.254.169.254": "link-local", "[::ffff:169.254.169.254]": "link-local", "0xa9fea9fe": "link-local", "2852039166": "link-local", "[fe80::1]": "link-local", "[fe80::1%25eth0]": "link-local", "[fe80::1%251]": "link-local",
	"[fd00:ec2::254]": "metadata", "100.100.100.200": "metadata", "168.63.129.16": "metadata",
	"224.0.0.1": "multicast", "255.255.255.255": "broadcast", "[ff02::1]": "multicast", "240.0.0.1": "240.0.0.0/4", "192.0.2.1": "192.0.2.0/24", "198.18.0.1": "198.18.0.0/15",
}

// Who saves such a URL is told the rule, and what was saved under other rules
// is not sent.
func TestForbiddenAddressesInURLs(t *testing.T) {
	t.Parallel()
	port := untouchable(t)
	c := newClient(t, egress.Options{Resolver: farside.Names(t, nil)})
	for host, rule := range forbidden {
		raw := "https://" + host + ":" + port + "/"
		if err := c.CheckURL(raw); err == nil || !strings.Contains(err.Error(), rule) {
			t.Errorf("%s: %v, want the rule about %s", raw, err, rule)
		}
		expect(t, post(t, c, raw, "x"), gateway.ErrorBlocked, rule)
	}
}

// A name that leads there is accepted, since that can change, and blocked when
// it is to be sent to.
func TestForbiddenAddressesBehindNames(t *testing.T) {
	t.Parallel()
	port := untouchable(t)
	known, rules := map[string]string{}, map[string]string{}
	for host, rule := range forbidden {
		addr, err := netip.ParseAddr(strings.Trim(host, "[]"))
		if err != nil || addr.Zone() != "" {
			continue // only the forms of URLs
		}
		name := strings.NewReplacer(".", "-", ":", "-").Replace(addr.StringExpanded()) + ".test"
		known[name], rules[name] = addr.String(), rule
		if addr.Is4In6() { // a name server has a record for IPv4 or IPv6
			known[name] = addr.Unmap().String()
		}
	}
	c := newClient(t, egress.Options{Resolver: farside.Names(t, known)})
	for name, rule := range rules {
		raw := "https://" + name + ":" + port + "/"
		if err := c.CheckURL(raw); err != nil {
			t.Errorf("%s: %v", raw, err)
		}
		result := post(t, c, raw, "x")
		expect(t, result, gateway.ErrorBlocked, rule)
		if !strings.Contains(result.Detail, name) || !strings.Contains(result.Detail, "Give the endpoint") && !strings.Contains(result.Detail, "https://") {
			t.Errorf("%q does not say what to do, and about which host", result.Detail)
		}
	}
}

// Of several addresses, those that are forbidden are not tried, whichever come
// first.
func TestForbiddenAddressesAmongOthers(t *testing.T) {
	t.Parallel()
	open := farside.Serve(t, farside.Answer("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))
	_, port, _ := net.SplitHostPort(open)
	resolver := farside.Resolver(t, func(name string) []string {
		switch name {
		case "first.test":
			return []string{"169.254.169.254", "127.0.0.1"}
		case "last.test":
			return []string{"127.0.0.1", "10.0.0.1", "169.254.169.254"}
		}
		return []string{"10.0.0.1", "169.254.169.254", "::1"}
	})
	c := newClient(t, egress.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}, Resolver: resolver})
	for _, name := range []string{"first.test", "last.test"} {
		if result := post(t, c, "http://"+name+":"+port, "x"); result.Outcome != gateway.OutcomeSucceeded {
			t.Errorf("%s: %s %s", name, result.Outcome, result.Detail)
		}
	}
	expect(t, post(t, c, "http://none.test:"+port, "x"), gateway.ErrorBlocked, "resolves to")
}

// The address that was vetted is the one that is connected to: a name that
// leads elsewhere the second time gains nothing.
func TestNameThatChanges(t *testing.T) {
	t.Parallel()
	good := farside.Serve(t, farside.Answer("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"))
	_, port, _ := net.SplitHostPort(good)
	bad, err := net.Listen("tcp", "127.0.0.2:"+port)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = bad.Close() })
	var questions atomic.Int64
	var changed atomic.Bool
	resolver := farside.Resolver(t, func(string) []string {
		// One look-up asks for IPv4 and IPv6. Whoever looked up once more to
		// connect would be led to the other address.
		if questions.Add(1) > 2 || changed.Load() {
			return []string{"127.0.0.2"}
		}
		return []string{"127.0.0.1"}
	})
	c := newClient(t, egress.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}, Resolver: resolver})
	if result := post(t, c, "http://rebind.test:"+port, "x"); result.Outcome != gateway.OutcomeSucceeded {
		t.Errorf("%s %s", result.Outcome, result.Detail)
	}
	if n := questions.Load(); n > 2 {
		t.Errorf("one request looked its name up with %d questions", n)
	}
	changed.Store(true)
	expect(t, post(t, c, "http://rebind.test:"+port, "x"), gateway.ErrorBlocked, "127.0.0.0/8")
	if err := bad.(*net.TCPListener).SetDeadline(past); err != nil {
		t.Fatal(err)
	}
	if conn, err := bad.Accept(); err == nil {
		t.Errorf("the forbidden address got a connection from %s", conn.RemoteAddr())
	}
}

// Rowlock's own listeners and its database stay closed inside of a network that
// is allowed, whatever leads to them.
func TestOwnListenersAreNeverReached(t *testing.T) {
	t.Parallel()
	port := untouchable(t)
	own := netip.MustParseAddrPort("127.0.0.1:" + port)
	database := netip.MustParseAddrPort("10.0.0.5:5432")
	everything := []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")}
	resolver := farside.Names(t, map[string]string{"own.test": "127.0.0.1", "own6.test": "64:ff9b::7f00:1", "database.test": "10.0.0.5"})
	for _, deny := range []netip.AddrPort{own, netip.AddrPortFrom(netip.IPv4Unspecified(), own.Port()), netip.AddrPortFrom(netip.IPv6Unspecified(), own.Port())} {
		c := newClient(t, egress.Options{Allow: everything, AllowExact: []netip.AddrPort{own}, Deny: []netip.AddrPort{deny, database}, Resolver: resolver})
		for _, url := range []string{
			"http://127.0.0.1:" + port, "http://[::ffff:127.0.0.1]:" + port, "http://[64:ff9b::7f00:1]:" + port, "http://2130706433:" + port, "https://127.0.0.1:" + port,
			"http://own.test:" + port, "https://own.test:" + port, "http://own6.test:" + port, "http://10.0.0.5:5432", "http://database.test:5432",
		} {
			expect(t, post(t, c, url, "x"), gateway.ErrorBlocked, "own listeners")
		}
	}
}
