package egress

import (
	"errors"
	"net"
	"net/netip"
	"strings"
	"testing"
)

func prefixes(cidrs ...string) []netip.Prefix {
	var list []netip.Prefix
	for _, cidr := range cidrs {
		list = append(list, netip.MustParsePrefix(cidr))
	}
	return list
}

func TestPolicyByDefault(t *testing.T) {
	t.Parallel()
	p := newPolicy(Options{})
	for address, rule := range map[string]string{
		"198.41.0.4": "", "1.1.1.1": "", "172.32.0.1": "", "2606:4700::1111": "", "::ffff:1.1.1.1": "",
		"127.0.0.1": "loopback addresses (127.0.0.0/8)", "127.255.255.254": "loopback", "::1": "loopback addresses (::1/128)",
		"10.0.0.1": "private addresses (10.0.0.0/8)", "172.16.0.1": "172.16.0.0/12", "192.168.1.1": "192.168.0.0/16",
		"100.64.0.1": "special-purpose addresses (100.64.0.0/10)", "198.18.0.1": "198.18.0.0/15", "192.0.2.1": "192.0.2.0/24", "0.1.2.3": "0.0.0.0/8", "240.0.0.1": "240.0.0.0/4",
		"fc00::1": "private addresses (fc00::/7)", "fec0::1": "outside 2000::/3", "2001:db8::1": "2001:db8::/32", "3fff::1": "3fff::/20", "100::1": "outside 2000::/3",
		"0.0.0.0": "unspecified", "::": "unspecified", "169.254.169.254": "link-local", "fe80::1": "link-local", "fe80::1%eth0": "link-local",
		"fd00:ec2::254": "metadata", "100.100.100.200": "metadata", "168.63.129.16": "metadata", "192.0.0.192": "metadata", "fd20:ce::254": "metadata",
		"224.0.0.1": "multicast", "255.255.255.255": "broadcast", "ff02::1": "multicast",
		"::ffff:127.0.0.1": "loopback", "::ffff:169.254.169.254": "link-local", "::127.0.0.1": "loopback",
		"64:ff9b::a00:1": "10.0.0.0/8", "64:ff9b::101:101": "outside 2000::/3", "64:ff9b:1::a9fe:a9fe": "link-local",
		"2002:7f00:1::": "loopback", "2002:101:101::": "2002::/16", "2001:0:101:101::80ff:fffe": "loopback",
	} {
		checkRule(t, p.vet(netip.AddrPortFrom(netip.MustParseAddr(address), 443)), address, rule)
	}
}

// checkRule fails unless an address is blocked by this rule, or allowed when
// the rule is empty.
func checkRule(t *testing.T, err error, address, rule string) {
	t.Helper()
	var blocked *blockedError
	switch {
	case rule == "" && err != nil:
		t.Errorf("%s is blocked: %v", address, err)
	case rule != "" && (!errors.As(err, &blocked) || !strings.Contains(err.Error(), rule)):
		t.Errorf("%s: %v, want a rule with %q", address, err, rule)
	}
}

func TestPolicyAllow(t *testing.T) {
	t.Parallel()
	p := newPolicy(Options{
		Allow:      prefixes("10.0.0.0/8", "fd00::/8", "64:ff9b::/96", "169.254.0.0/16"),
		AllowExact: []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:4000")},
	})
	for address, rule := range map[string]string{
		"10.1.2.3:80": "", "[::ffff:10.1.2.3]:80": "", "[fd00::1]:80": "", "127.0.0.1:4000": "", "[::ffff:127.0.0.1]:4000": "",
		"127.0.0.1:4001": "loopback", "127.0.0.2:4000": "loopback", "192.168.0.1:80": "private",
		"[64:ff9b::101:101]:443": "", "[64:ff9b::a01:203]:443": "", "[64:ff9b::c0a8:1]:443": "192.168.0.0/16", "[64:ff9b::a9fe:a9fe]:80": "link-local",
		"169.254.169.254:80": "link-local", "[fd00:ec2::254]:80": "metadata",
	} {
		checkRule(t, p.vet(netip.MustParseAddrPort(address)), address, rule)
	}
}

func TestPolicyPlain(t *testing.T) {
	t.Parallel()
	p := newPolicy(Options{Allow: prefixes("10.0.0.0/8"), AllowExact: []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:4000")}})
	for address, rule := range map[string]string{
		"10.1.2.3:80": "", "[::ffff:10.1.2.3]:80": "", "127.0.0.1:4000": "",
		"1.1.1.1:80": "plain http", "[2606:4700::1111]:80": "plain http", "192.168.0.1:80": "private", "127.0.0.1:80": "loopback",
	} {
		checkRule(t, p.vetPlain(netip.MustParseAddrPort(address)), address, rule)
	}
	if !p.mayBePlain() || newPolicy(Options{}).mayBePlain() {
		t.Error("plain http is possible exactly when something is allowed")
	}
}

func TestPolicyDeny(t *testing.T) {
	t.Parallel()
	deny := []netip.AddrPort{
		netip.MustParseAddrPort("0.0.0.0:8080"), netip.MustParseAddrPort("[::]:8081"),
		netip.MustParseAddrPort("[::ffff:10.0.0.5]:5432"), netip.MustParseAddrPort("198.41.0.4:5432"),
		netip.MustParseAddrPort("127.0.0.1:5433"),
	}
	p := newPolicy(Options{Allow: prefixes("0.0.0.0/0", "::/0"), Deny: deny, AllowExact: deny})
	for address, rule := range map[string]string{
		"127.0.0.1:8080": "own listeners", "127.9.9.9:8080": "own listeners", "[::1]:8080": "own listeners", "0.0.0.0:8080": "own listeners",
		"[::ffff:127.0.0.1]:8081": "own listeners", "127.0.0.1:8081": "own listeners", "[64:ff9b::7f00:1]:8080": "own listeners",
		"10.0.0.5:5432": "own listeners", "[::ffff:10.0.0.5]:5432": "own listeners", "198.41.0.4:5432": "own listeners",
		"127.0.0.1:5433": "own listeners", "[::1]:5433": "own listeners", "[::ffff:127.0.0.1]:5433": "own listeners", "10.0.0.5:5433": "",
		"127.0.0.1:8082": "", "10.0.0.6:5432": "", "198.41.0.4:8080": "", "198.41.0.4:443": "",
	} {
		checkRule(t, p.vet(netip.MustParseAddrPort(address)), address, rule)
	}
}

func TestIsLocalKnowsThisMachine(t *testing.T) {
	t.Parallel()
	interfaces, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range interfaces {
		if addr := netip.MustParsePrefix(i.String()).Addr(); !isLocal(addr) {
			t.Errorf("%s is an address of this machine, but not local", addr)
		}
	}
	for _, address := range []string{"192.0.2.77", "2001:db8::77"} {
		if isLocal(netip.MustParseAddr(address)) {
			t.Errorf("%s is local", address)
		}
	}
}

func TestControlRefusesWhatItCannotRead(t *testing.T) {
	t.Parallel()
	hook := control(func(netip.AddrPort) error { return nil })
	for _, address := range []string{"", "localhost:80", "1.2.3.4", "/run/socket"} {
		var blocked *blockedError
		if err := hook(t.Context(), "tcp", address, nil); !errors.As(err, &blocked) {
			t.Errorf("%q: %v, want it blocked", address, err)
		}
	}
}
