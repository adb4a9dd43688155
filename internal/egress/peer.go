package egress

import (
	"net"
	"net/netip"
	"net/url"
	"strconv"
)

// peer is the far side of one request.
type peer struct {
	// host is the URL's: a name or an address.
	host string
	port uint16
}

// peerOf is the far side of a URL that was checked.
func peerOf(u *url.URL) peer {
	port, _ := portOf(u) // an error was told by the check
	return peer{u.Hostname(), port}
}

// at names the far side for people, as "hooks.example.com:443 (203.0.113.7)":
// with the address that was connected to or tried, when that says more than
// the host does. What a name resolves to inside of the operator's network is
// not for tenants to learn, and left out.
func (p peer) at(addr netip.Addr, public bool) string {
	text := net.JoinHostPort(p.host, strconv.Itoa(int(p.port)))
	if _, literal := parseLiteral(p.host); literal || !addr.IsValid() || !public {
		return text
	}
	return text + " (" + addr.String() + ")"
}
