package app

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"

	"github.com/rowlock/rowlock/internal/config"
	"github.com/rowlock/rowlock/internal/egress"
	"github.com/rowlock/rowlock/internal/notify"
)

// publicName is a name that always exists.
const publicName = "example.com"

// metadataAddress is where clouds hand out credentials.
const metadataAddress = "169.254.169.254"

// address looks at the public address. What is right for a trial is wrong for
// the public, so it is told and is no fault.
func (d *doctor) address(c config.Config) {
	const what = "address"
	switch base := string(c.BaseURL); {
	case isLoopback(hostOf(base)) && !isLoopback(hostOfListen(string(c.Listen))):
		d.warn(what, base+" leads to this machine alone: set ROWLOCK_BASE_URL to the public address, which ingest addresses, links in mails and cookies carry")
	case isLoopback(hostOf(base)):
		d.tell(what, base+", for this machine alone", nil)
	case !c.BaseURL.Secure():
		d.warn(what, base+" is not encrypted: passwords, keys and events can be read on the way. Put a proxy that speaks TLS in front, and begin ROWLOCK_BASE_URL with https://")
	default:
		d.tell(what, base, nil)
	}
}

func hostOf(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

func hostOfListen(listen string) string {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return ""
	}
	return host
}

func isLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.Unmap().IsLoopback()
}

// proxies looks at whose X-Forwarded-For is believed.
func (d *doctor) proxies(c config.Config) {
	const what = "proxies"
	for _, network := range c.TrustedProxies {
		if network.Bits() == 0 {
			d.tell(what, "", fmt.Errorf("ROWLOCK_TRUSTED_PROXIES has %s, so that everybody can make up the address they come from: name the proxies' own addresses", network))
			return
		}
	}
	switch {
	case len(c.TrustedProxies) > 0:
		d.tell(what, "X-Forwarded-For is believed of "+c.TrustedProxies.String(), nil)
	case c.BaseURL.Secure():
		d.warn(what, "no proxy is trusted, and Rowlock speaks no TLS itself: name the one in front in ROWLOCK_TRUSTED_PROXIES, or every client counts as that one, for limits, allowed addresses and the audit log")
	default:
		d.tell(what, "none is trusted: a client's address is the connection's", nil)
	}
}

// mail goes as far as a mail does before it is handed in.
func (d *doctor) mail(ctx context.Context, c config.Config) {
	const what = "mail"
	if c.SMTPURL == "" {
		d.warn(what, "none is sent: mails wait for a day under Instance, Mail, for the owner to pass on. To have them sent, set ROWLOCK_SMTP_URL")
		return
	}
	from, err := notify.Reach(ctx, c.SMTPURL.Reveal(), string(c.BaseURL))
	if err != nil {
		err = &advised{fmt.Errorf("%s lets nobody in: %w", c.SMTPURL, err), "Look at ROWLOCK_SMTP_URL, and whether this machine may reach it; mails are tried again for a day."}
	}
	d.tell(what, fmt.Sprintf("%s lets us in; mails come from %s", c.SMTPURL, from), err)
}

// egress looks at what deliveries may reach, by the rules that every connection
// is held to, and resolves a public name. A closed network is no fault: endpoints
// may all be inside it.
func (d *doctor) egress(ctx context.Context, c config.Config, databaseURL string) {
	const what = "egress"
	own := ownAddresses(ctx, c, databaseURL)
	client := egress.New(egress.Options{Allow: c.AllowNetworks, Deny: own})
	defer client.CloseIdle()
	forbidden := []string{metadataAddress}
	for _, address := range own {
		forbidden = append(forbidden, address.String())
	}
	for _, address := range forbidden {
		if client.CheckURL("https://"+address+"/") == nil {
			d.tell(what, "", fmt.Errorf("deliveries may reach %s, which is no tenant's to reach: this is a fault of Rowlock, report it", address))
			return
		}
	}
	d.wideOpen(c)
	ctx, cancel := context.WithTimeout(ctx, resolveTimeout)
	defer cancel()
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", publicName)
	if err != nil {
		d.warn(what, "public names do not resolve here: deliveries to public addresses will fail. If there are to be any, mend the resolver (/etc/resolv.conf)")
		return
	}
	if refused := refusedOf(client, found); len(refused) > 0 {
		d.warn(what, fmt.Sprintf("%s resolves to %s, which deliveries may not reach: mend the resolver, or allow that network with ROWLOCK_ALLOW_NETWORKS", publicName, strings.Join(refused, ", ")))
		return
	}
	d.tell(what, "public names resolve; our own listeners, the database and the cloud's metadata are out of reach", nil)
}

// wideOpen tells of a setting that allows everything.
func (d *doctor) wideOpen(c config.Config) {
	for _, network := range c.AllowNetworks {
		if network.Bits() == 0 {
			d.warn("egress", fmt.Sprintf("ROWLOCK_ALLOW_NETWORKS has %s: whoever makes an endpoint reaches every machine of yours. Name the networks that have receivers", network))
		}
	}
}

// refusedOf are the addresses that deliveries may not reach.
func refusedOf(client *egress.Client, found []netip.Addr) (refused []string) {
	for _, addr := range found {
		if client.CheckURL("https://"+netip.AddrPortFrom(addr.Unmap(), 443).String()+"/") != nil {
			refused = append(refused, addr.Unmap().String())
		}
	}
	return refused
}
