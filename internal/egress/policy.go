package egress

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"syscall"

	"code.dny.dev/ssrf"
)

// blockedError says that an address must not be reached, and by which rule.
// The rule does not hold the address: what a name resolves to inside the
// operator's network is not for tenants to learn.
type blockedError struct {
	rule string
	// remedy says what to do about it.
	remedy string
}

func (e *blockedError) Error() string { return e.rule }

// What helps against the rules.
const (
	elsewhere     = "Give the endpoint another URL."
	elseOrAllowed = "Give the endpoint a public address, or ask who runs this Rowlock to allow that network."
	overTLS       = "Begin the URL with https://."
)

// The rules that no setting lifts.
var (
	errOwn         = &blockedError{"Rowlock's own listeners and its database are never reached", elsewhere}
	errUnspecified = &blockedError{"the unspecified address (0.0.0.0, ::) is never reached", elsewhere}
	errLinkLocal   = &blockedError{"link-local addresses (169.254.0.0/16, fe80::/10) are never reached", elsewhere}
	errMetadata    = &blockedError{"the cloud's metadata service is never reached", elsewhere}
	errMulticast   = &blockedError{"multicast and broadcast addresses are never reached", elsewhere}
)

// errPlain is the rule that keeps payloads off the open internet.
var errPlain = &blockedError{"plain http goes only to addresses inside ROWLOCK_ALLOW_NETWORKS", overTLS}

// metadata lists the addresses at which clouds hand out credentials, beside
// the link-local ones.
var metadata = []netip.Addr{
	netip.MustParseAddr("fd00:ec2::254"),   // Amazon
	netip.MustParseAddr("fd20:ce::254"),    // Google
	netip.MustParseAddr("100.100.100.200"), // Alibaba
	netip.MustParseAddr("168.63.129.16"),   // Azure
	netip.MustParseAddr("192.0.0.192"),     // Oracle
}

var broadcast = netip.AddrFrom4([4]byte{255, 255, 255, 255})

// policy decides which addresses may be reached.
type policy struct {
	allow []netip.Prefix
	exact []netip.AddrPort
	deny  []netip.AddrPort
	guard *ssrf.Guardian // the public internet and allow
	world *ssrf.Guardian // the public internet alone
}

func newPolicy(o Options) *policy {
	p := &policy{allow: slices.Clone(o.Allow), exact: slices.Clone(o.AllowExact), deny: slices.Clone(o.Deny)}
	for i, d := range p.deny {
		p.deny[i] = unmap(d)
	}
	for i, e := range p.exact {
		p.exact[i] = unmap(e)
	}
	var v4, v6 []netip.Prefix
	for _, network := range p.allow {
		if network.Addr().Is4() {
			v4 = append(v4, network)
		} else {
			v6 = append(v6, network)
		}
	}
	p.guard = ssrf.New(ssrf.WithAnyPort(), ssrf.WithAllowedV4Prefixes(v4...), ssrf.WithAllowedV6Prefixes(v6...))
	p.world = ssrf.New(ssrf.WithAnyPort())
	return p
}

// public tells whether an address is one of the public internet, which anybody
// can look up.
func (p *policy) public(addr netip.Addr) bool { return p.world.SafeAddr(addr) == nil }

// unmap gives an address its one form: IPv4 as IPv4, and no zone.
func unmap(ap netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(ap.Addr().Unmap().WithZone(""), ap.Port())
}

// control makes a dialer's hook, which is called with each address before a
// connection to it is begun.
func control(vet func(netip.AddrPort) error) func(context.Context, string, string, syscall.RawConn) error {
	return func(_ context.Context, _, address string, _ syscall.RawConn) error {
		ap, err := netip.ParseAddrPort(address)
		if err != nil {
			return &blockedError{"the address is not one of IPv4 or IPv6", elsewhere}
		}
		return vet(ap)
	}
}

// vet returns nil for an address that https may reach, else a *blockedError.
func (p *policy) vet(ap netip.AddrPort) error {
	ap = unmap(ap)
	if err := p.vetAlways(ap); err != nil {
		return err
	}
	if slices.Contains(p.exact, ap) {
		return nil
	}
	if v4, ok := embeddedIPv4(ap.Addr()); ok {
		if err := p.vet(netip.AddrPortFrom(v4, ap.Port())); err != nil {
			return err
		}
	}
	if p.guard.SafeAddr(ap.Addr()) != nil {
		return &blockedError{describe(ap.Addr()), elseOrAllowed}
	}
	return nil
}

// vetPlain returns nil for an address that plain http may reach.
func (p *policy) vetPlain(ap netip.AddrPort) error {
	if err := p.vet(ap); err != nil {
		return err
	}
	if ap = unmap(ap); !slices.Contains(p.exact, ap) && !p.allowed(ap.Addr()) {
		return errPlain
	}
	return nil
}

// allowed tells whether an address lies in one of the allowed networks.
func (p *policy) allowed(addr netip.Addr) bool {
	return slices.ContainsFunc(p.allow, func(n netip.Prefix) bool { return n.Contains(addr) })
}

// mayBePlain tells whether there is any address that plain http may reach.
func (p *policy) mayBePlain() bool { return len(p.allow)+len(p.exact) > 0 }

// vetAlways applies the rules that no setting lifts.
func (p *policy) vetAlways(ap netip.AddrPort) error {
	addr := ap.Addr()
	switch {
	case p.own(ap):
		return errOwn
	case addr.IsUnspecified():
		return errUnspecified // the kernel would take it for loopback
	case slices.Contains(metadata, addr):
		return errMetadata
	case addr.IsLinkLocalUnicast():
		return errLinkLocal
	case addr.IsMulticast() || addr == broadcast:
		return errMulticast
	}
	return nil
}

// own tells whether an address is one of our listeners or the database. What
// is on this machine may listen on all of its addresses, whichever of them we
// know it by: a database at 127.0.0.1 is commonly at ::1, too.
func (p *policy) own(ap netip.AddrPort) bool {
	return slices.ContainsFunc(p.deny, func(d netip.AddrPort) bool {
		return d.Port() == ap.Port() && (d.Addr() == ap.Addr() || isLocal(d.Addr()) && isLocal(ap.Addr()))
	})
}

// isLocal tells whether an address is this machine's. When that cannot be
// known, it counts as one.
func isLocal(addr netip.Addr) bool {
	if addr.IsLoopback() || addr.IsUnspecified() {
		return true
	}
	interfaces, err := net.InterfaceAddrs()
	if err != nil {
		return true
	}
	return slices.ContainsFunc(interfaces, func(a net.Addr) bool {
		network, ok := a.(*net.IPNet)
		return ok && network.IP.Equal(net.IP(addr.AsSlice()))
	})
}

// describe names the rule that forbids a non-public address.
func describe(addr netip.Addr) string {
	kind := "special-purpose"
	switch {
	case addr.IsLoopback():
		kind = "loopback"
	case addr.IsPrivate():
		kind = "private"
	}
	return fmt.Sprintf("%s addresses (%s) are reached only inside ROWLOCK_ALLOW_NETWORKS", kind, rangeOf(addr))
}

// rangeOf returns the special range that holds an address.
func rangeOf(addr netip.Addr) string {
	for _, network := range slices.Concat(ssrf.IPv4DeniedPrefixes, ssrf.IPv6DeniedPrefixes) {
		if network.Contains(addr) {
			return network.String()
		}
	}
	switch {
	case addr.IsLoopback():
		return "::1/128"
	case addr.IsPrivate():
		return "fc00::/7"
	}
	return "outside " + ssrf.IPv6GlobalUnicast.String()
}
