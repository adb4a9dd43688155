package egress

import (
	"net/http"
	"net/netip"
	"net/url"
)

// transport is what carries requests to a URL: for the one more address that only
// this request may reach, one that is used once and keeps no connection.
func (c *Client) transport(u *url.URL, also netip.AddrPort) *http.Transport {
	switch {
	case also.IsValid() && names(u, also):
		once := newTransport(c.options, c.policy.vetOnly(also))
		once.DisableKeepAlives = true
		return once
	case u.Scheme == "http":
		return c.plain
	}
	return c.secure
}

// names tells whether a URL that was parsed names an address by its number.
func names(u *url.URL, ap netip.AddrPort) bool {
	addr, err := netip.ParseAddr(u.Hostname())
	if err != nil {
		return false
	}
	port, err := portOf(u)
	return err == nil && unmap(netip.AddrPortFrom(addr, port)) == ap
}

// vetOnly makes a vet for which there is no address but one.
func (p *policy) vetOnly(only netip.AddrPort) func(netip.AddrPort) error {
	return func(ap netip.AddrPort) error {
		if unmap(ap) != only {
			return p.vet(ap)
		}
		return p.vetAlways(only)
	}
}
