package egress

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/idna"

	"github.com/rowlock/rowlock/internal/gateway"
)

// Why a URL is refused, as a stable code for programs.
const (
	CodeURLInvalid     = "url_invalid"           // not a URL at all, or too long
	CodeURLScheme      = "url_scheme"            // neither http nor https
	CodeURLHost        = "url_host"              // no host, or none that can be
	CodeURLPort        = "url_port"              // not 1 to 65535
	CodeURLCredentials = "url_credentials"       // user or password inside
	CodeURLFragment    = "url_fragment"          // a fragment, which is never sent
	CodeURLPlainHTTP   = "url_plain_http"        // http to where it is not allowed
	CodeURLAddress     = "url_address_forbidden" // an address that must not be reached
)

const (
	// maxURL is the longest URL accepted, in bytes.
	maxURL = 2048
	// maxName and maxLabel are DNS's own limits, in bytes.
	maxName, maxLabel = 253, 63

	portHTTP, portHTTPS = 80, 443
)

// URLError says why a URL is refused.
type URLError struct {
	Code   string // one of the Code constants
	Detail string // a sentence for people; it does not repeat the URL
}

// Error returns the sentence.
func (e *URLError) Error() string { return e.Detail }

// Invalid is what CheckURL found of an input's field, as a gateway.InvalidError;
// nil where it found nothing.
func Invalid(field string, err error) error {
	if err == nil {
		return nil
	}
	if refused, ok := errors.AsType[*URLError](err); ok {
		return &gateway.InvalidError{Field: field, Code: refused.Code, Detail: refused.Detail}
	}
	return gateway.Invalid(field, "%s", err)
}

// CheckURL tells whether requests may be sent to a URL, as far as that can be
// known before its name is resolved. The error is a *URLError.
//
// It must be http or https, with a host, without credentials and fragment. An
// address in place of a name must be one that may be reached, however it is
// written. Plain http to a name is accepted where any address may be reached
// by it; whether this name's may is decided when a request is sent.
func (c *Client) CheckURL(raw string) error { return c.CheckURLWith(raw, netip.AddrPort{}) }

// CheckURLWith is CheckURL for who may reach one more address: see Request.Also.
func (c *Client) CheckURLWith(raw string, also netip.AddrPort) error {
	_, err := c.parseURL(raw, also)
	return err
}

// parseURL is CheckURL, and returns the parsed URL.
func (c *Client) parseURL(raw string, also netip.AddrPort) (*url.URL, error) {
	if len(raw) > maxURL {
		return nil, &URLError{CodeURLInvalid, fmt.Sprintf("The URL is longer than %d bytes.", maxURL)}
	}
	u, err := url.Parse(raw)
	if err != nil {
		return nil, &URLError{CodeURLInvalid, "This is not a URL."} // the cause repeats it
	}
	if err := checkForm(u, raw); err != nil {
		return nil, err
	}
	port, err := portOf(u)
	if err != nil {
		return nil, err
	}
	if err := c.checkHost(u, port, also); err != nil {
		return nil, err
	}
	return u, nil
}

// checkForm checks the parts of a URL beside its host.
func checkForm(u *url.URL, raw string) error {
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return &URLError{CodeURLScheme, "The URL must begin with https:// or http://."}
	case u.User != nil:
		return &URLError{CodeURLCredentials, "The URL must not hold a user or password; use a header instead."}
	case strings.Contains(raw, "#"):
		return &URLError{CodeURLFragment, "The URL must not hold a fragment (#…), since it is never sent."}
	case u.Hostname() == "":
		return &URLError{CodeURLHost, "The URL must name a host."}
	}
	return nil
}

func portOf(u *url.URL) (uint16, error) {
	switch text := u.Port(); {
	case text != "":
		port, err := strconv.ParseUint(text, 10, 16)
		if err != nil || port == 0 {
			return 0, &URLError{CodeURLPort, "The URL's port must be from 1 to 65535."}
		}
		return uint16(port), nil
	case u.Scheme == "http":
		return portHTTP, nil
	}
	return portHTTPS, nil
}

// checkHost checks a name's form, or vets an address.
func (c *Client) checkHost(u *url.URL, port uint16, also netip.AddrPort) error {
	host, err := asciiHost(u.Hostname())
	if err != nil {
		return err
	}
	if l, ok := parseLiteral(host); ok {
		return c.checkLiteral(l, u.Scheme, port, also)
	}
	if u.Scheme == "http" && !c.policy.mayBePlain() {
		return plainRefused()
	}
	return checkName(host)
}

// asciiHost returns the host as it will be looked up: other scripts, wide
// digits and dots among them, in their ASCII form.
func asciiHost(host string) (string, error) {
	for i := range len(host) {
		if host[i] >= 0x80 {
			ascii, err := idna.Lookup.ToASCII(host)
			if err != nil {
				return "", &URLError{CodeURLHost, "The URL's host is not a valid name."}
			}
			return ascii, nil
		}
	}
	return host, nil
}

func (c *Client) checkLiteral(l literal, scheme string, port uint16, also netip.AddrPort) error {
	if !l.addr.IsValid() {
		return &URLError{CodeURLHost, "The URL's host ends in a number but is no IPv4 address."}
	}
	vet := c.policy.vet
	if scheme == "http" {
		vet = c.policy.vetPlain
	}
	address := unmap(netip.AddrPortFrom(l.addr, port))
	if address == also {
		vet = c.policy.vetAlways
	}
	switch err := vet(address); {
	case err == errPlain: //nolint:errorlint // the rule itself, never wrapped
		return plainRefused()
	case err != nil:
		return &URLError{CodeURLAddress, "The URL's address is forbidden: " + err.Error() + "."}
	case l.odd:
		return &URLError{CodeURLHost, fmt.Sprintf("Write the URL's address as %s.", l.addr)}
	case l.addr.Zone() != "":
		return &URLError{CodeURLHost, "The URL's address must not name an interface."}
	}
	return nil
}

func plainRefused() error {
	return &URLError{CodeURLPlainHTTP, "The URL must be https: " + errPlain.rule + "."}
}

// checkName checks that a host can be a name in DNS.
func checkName(host string) error {
	name := strings.TrimSuffix(host, ".")
	bad := len(name) > maxName
	for label := range strings.SplitSeq(name, ".") {
		bad = bad || label == "" || len(label) > maxLabel || strings.Trim(label, nameCharacters) != ""
	}
	if bad {
		return &URLError{CodeURLHost, "The URL's host is not a valid name."}
	}
	return nil
}

// nameCharacters may stand in a name. The underscore is no host's by the
// rules, but in use.
const nameCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"
