package egress

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"

	"github.com/rowlock/rowlock/internal/gateway"
)

// at names the far side.
func (f failure) at() string {
	addr := f.trace.far()
	var op *net.OpError
	if errors.As(f.err, &op) && op.Op == "dial" {
		addr = addrOf(op.Addr, addr)
	}
	return f.peer.at(addr, f.policy.public(addr))
}

// addrOf is the address of a connection that was not made: of several that
// were tried, the one whose error is told.
func addrOf(tried net.Addr, otherwise netip.Addr) netip.Addr {
	if tcp, ok := tried.(*net.TCPAddr); ok {
		return tcp.AddrPort().Addr().Unmap()
	}
	return otherwise
}

func (f failure) blocked() cause {
	var blocked *blockedError
	if !errors.As(f.err, &blocked) {
		return cause{}
	}
	return cause{
		gateway.ErrorBlocked,
		fmt.Sprintf("Not sent to the address that %s resolves to: %s.", f.host, blocked.rule),
		blocked.remedy,
	}
}

// dns explains a failed look-up. The resolver's own words would name the
// operator's name servers.
func (f failure) dns() cause {
	var lookup *net.DNSError
	if !errors.As(f.err, &lookup) {
		return cause{}
	}
	c := cause{gateway.ErrorDNS, "The name server failed to look up " + f.host + ".", checkNameServers}
	switch {
	case lookup.IsNotFound:
		c.happened = "DNS has no address for " + f.host + "."
		c.todo = "Check the host in the URL, or add an A or AAAA record for it."
	case lookup.IsTimeout:
		c.happened = "No name server answered for " + f.host + "."
	}
	return c
}

// checkNameServers is what to do when names cannot be looked up.
const checkNameServers = "Check the name servers of its domain."

// connect explains a connection that nobody accepted. It says the system's
// reason alone: the whole error names the address.
func (f failure) connect() cause {
	var op *net.OpError
	switch {
	case !errors.As(f.err, &op) || op.Op != "dial":
		return cause{}
	case errors.Is(op, syscall.ECONNRESET): // accepted, and reset before we saw it
		return f.closedEarly()
	case timedOut(op):
		return cause{gateway.ErrorTimeout, fmt.Sprintf("%s accepted no connection within %s.", f.at(), span(connectTimeout)), checkFirewall}
	case errors.Is(op, syscall.ECONNREFUSED):
		return cause{gateway.ErrorConnect, f.at() + " refused the connection.", "Start the receiver there, or correct the port in the URL."}
	}
	reason := "no address can be used"
	if errno, ok := errors.AsType[syscall.Errno](op); ok {
		reason = errno.Error()
	}
	return cause{gateway.ErrorConnect, fmt.Sprintf("There is no way to %s: %s.", f.at(), reason), checkFirewall}
}

// checkFirewall is what to do when nothing comes back at all.
const checkFirewall = "Check that it is up, and that no firewall drops what Rowlock sends."
