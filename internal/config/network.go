package config

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// Networks is a list of address ranges.
type Networks []netip.Prefix

// UnmarshalText accepts CIDRs separated by commas; an address alone means
// itself. IPv4 in IPv6 form is refused, since it would match nothing.
func (n *Networks) UnmarshalText(text []byte) error {
	var networks Networks
	for item := range strings.SplitSeq(string(text), ",") {
		network, err := parseNetwork(strings.TrimSpace(item))
		if err != nil {
			return err
		}
		networks = append(networks, network)
	}
	*n = networks
	return nil
}

func parseNetwork(item string) (netip.Prefix, error) {
	if !strings.Contains(item, "/") {
		addr, err := netip.ParseAddr(item)
		if err != nil || addr.Zone() != "" || addr.Is4In6() {
			return netip.Prefix{}, fmt.Errorf("parse network: %q is no address", item)
		}
		return netip.PrefixFrom(addr, addr.BitLen()), nil
	}
	network, err := netip.ParsePrefix(item)
	if err != nil || network.Addr().Is4In6() {
		return netip.Prefix{}, fmt.Errorf("parse network: %q is no CIDR", item)
	}
	return network.Masked(), nil
}

// String writes the list as UnmarshalText reads it.
func (n Networks) String() string {
	items := make([]string, len(n))
	for i, network := range n {
		items[i] = network.String()
	}
	return strings.Join(items, ",")
}

// Address is a host and port to listen on; an empty host means every
// interface.
type Address string

// UnmarshalText accepts host:port with a port of 0 (any free one) to 65535.
func (a *Address) UnmarshalText(text []byte) error {
	_, port, err := net.SplitHostPort(string(text))
	if err != nil {
		return fmt.Errorf("parse address: %w", err)
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return fmt.Errorf("parse port: %w", err)
	}
	*a = Address(text)
	return nil
}

// BaseURL is the public address, scheme://host or scheme://host:port, with
// nothing behind it, so that a path can be appended.
type BaseURL string

// UnmarshalText accepts http and https URLs of a host; a trailing slash is
// removed. A path is refused: cookies and redirects need the whole host.
func (b *BaseURL) UnmarshalText(text []byte) error {
	u, err := url.Parse(strings.TrimRight(string(text), "/"))
	if err != nil {
		return fmt.Errorf("parse base URL: %w", err)
	}
	bare := url.URL{Scheme: u.Scheme, Host: strings.ToLower(u.Host)}
	if u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || *u != (url.URL{Scheme: u.Scheme, Host: u.Host}) {
		return fmt.Errorf("parse base URL: %q is more or less than scheme and host", bare.Redacted())
	}
	*b = BaseURL(bare.String())
	return nil
}

// Secure tells whether the public address is https, which cookies depend on.
func (b BaseURL) Secure() bool { return strings.HasPrefix(string(b), "https://") }
