package egress

import (
	"net/netip"

	"code.dny.dev/ssrf"
)

// The IPv6 ranges whose addresses lead, through a gateway, to the IPv4
// address written in them.
var (
	nat64Prefixes = []netip.Prefix{
		ssrf.IPv6NAT64Prefix,
		netip.MustParsePrefix("64:ff9b:1::/48"), // RFC 8215: a network's own gateway
	}
	compatible = netip.MustParsePrefix("::/96")     // RFC 4291, long deprecated
	sixToFour  = netip.MustParsePrefix("2002::/16") // RFC 3056
	teredo     = netip.MustParsePrefix("2001::/32") // RFC 4380
)

// embeddedIPv4 returns the IPv4 address that an IPv6 address leads to. So an
// operator who allows such a range, as networks without IPv4 must, does not
// thereby open the private addresses behind it.
func embeddedIPv4(addr netip.Addr) (netip.Addr, bool) {
	if !addr.Is6() {
		return netip.Addr{}, false
	}
	raw := addr.As16()
	last := netip.AddrFrom4([4]byte(raw[12:]))
	for _, prefix := range nat64Prefixes {
		if prefix.Contains(addr) {
			return last, true
		}
	}
	switch {
	case compatible.Contains(addr) && !addr.IsLoopback() && !addr.IsUnspecified():
		return last, true
	case sixToFour.Contains(addr):
		return netip.AddrFrom4([4]byte(raw[2:6])), true
	case teredo.Contains(addr): // the client's address, inverted
		return netip.AddrFrom4([4]byte{^raw[12], ^raw[13], ^raw[14], ^raw[15]}), true
	}
	return netip.Addr{}, false
}
