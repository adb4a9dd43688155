package gateway

import (
	"errors"
	"net/netip"
	"strings"
)

// ErrBadNetwork is a text that is neither an address nor a network.
var ErrBadNetwork = errors.New("want an address or a network, such as 203.0.113.7 or 2001:db8::/32")

// ParseNetwork reads a network, or an address as the network of it alone.
func ParseNetwork(text string) (netip.Prefix, error) {
	if strings.Contains(text, "/") {
		p, err := netip.ParsePrefix(text)
		if err != nil {
			return netip.Prefix{}, ErrBadNetwork
		}
		return unmapped(p).Masked(), nil
	}
	a, err := netip.ParseAddr(text)
	if err != nil || a.Zone() != "" {
		return netip.Prefix{}, ErrBadNetwork
	}
	return netip.PrefixFrom(a.Unmap(), a.Unmap().BitLen()), nil
}

// mappedBits is how many bits stand before an IPv4 address that is written as
// an IPv6 one.
const mappedBits = 96

// unmapped is an IPv4 network as such also where it is written as an IPv6 one:
// senders are compared as IPv4 addresses.
func unmapped(p netip.Prefix) netip.Prefix {
	if p.Addr().Is4In6() && p.Bits() >= mappedBits {
		return netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-mappedBits)
	}
	return p
}

// Within tells whether a network has all of another in it.
func Within(outer, inner netip.Prefix) bool {
	return outer.Bits() <= inner.Bits() && outer.Contains(inner.Addr())
}

// NetworkTexts writes networks as people do: one address without its length.
func NetworkTexts(networks []netip.Prefix) []string {
	texts := make([]string, len(networks))
	for i, p := range networks {
		texts[i] = p.String()
		if p.IsSingleIP() {
			texts[i] = p.Addr().String()
		}
	}
	return texts
}
