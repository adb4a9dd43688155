package egress

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
)

// shownNames is how many of a certificate's names a detail tells.
const shownNames = 3

// tls explains a handshake that failed, and an alert after it, by which
// servers refuse a client without certificate.
func (f failure) tls() cause {
	_, handshake := f.trace.progress()
	var op *net.OpError
	alert := errors.As(f.err, &op) && (op.Op == "remote error" || op.Op == "local error")
	if handshake == nil && !alert {
		return cause{}
	}
	var plain tls.RecordHeaderError
	var refused *tls.CertificateVerificationError
	switch {
	case errors.As(handshake, &refused):
		return f.certificate(refused)
	case errors.As(handshake, &plain):
		return cause{gateway.ErrorTLS, f.at() + " does not speak TLS.", "Use the port that serves https."}
	case timedOut(handshake):
		return cause{gateway.ErrorTimeout, fmt.Sprintf("%s did not finish the TLS handshake within %s.", f.at(), span(tlsTimeout)), "Check that this port serves https."}
	case broken(handshake):
		return cause{gateway.ErrorTLS, f.at() + " closed the connection during the TLS handshake.", "Check that this port serves https, and look into the server's log."}
	}
	return f.alert()
}

// alerts are the reasons for which servers refuse a handshake, by what crypto/
// tls calls them.
var alerts = []struct{ words, happened, todo string }{
	{"certificate required", "demands a client certificate, and Rowlock has none", "Let webhooks in without one: their signature tells who sent them."},
	{"protocol version", "speaks neither TLS 1.2 nor 1.3", "Update its TLS settings."},
	{"handshake failure", "has no TLS settings in common with Rowlock", "Allow the usual ciphers of TLS 1.2 or 1.3."},
	{"unrecognized name", "has no certificate for this host", "Check the host in the URL, or add it to the server."},
}

// alert explains why the far side refused the handshake.
func (f failure) alert() cause {
	said := quote(f.err)
	for _, a := range alerts {
		if strings.Contains(said, a.words) {
			return cause{gateway.ErrorTLS, f.at() + " " + a.happened + ".", a.todo}
		}
	}
	return cause{gateway.ErrorTLS, fmt.Sprintf("The TLS connection to %s failed: %s.", f.at(), said), "Check the server's TLS settings."}
}

// certificate explains why a certificate is not accepted.
func (f failure) certificate(refused *tls.CertificateVerificationError) cause {
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	var unknown x509.UnknownAuthorityError
	c := cause{kind: gateway.ErrorTLS}
	switch {
	case errors.As(refused, &name):
		c.happened = fmt.Sprintf("The certificate of %s is for %s, not for %s. It is valid until %s.",
			f.at(), namesOf(name.Certificate), f.host, moment(name.Certificate.NotAfter))
		c.todo = "Get one for this host, or change the host in the URL."
	case errors.As(refused, &invalid) && invalid.Reason == x509.Expired:
		c.happened, c.todo = f.outOfDate(invalid.Cert, refused.UnverifiedCertificates)
	case errors.As(refused, &unknown) && len(refused.UnverifiedCertificates) > 0:
		c.happened = f.unknownIssuer(refused.UnverifiedCertificates)
		c.todo = "Use one of a public authority and send its whole chain, or have that authority trusted on Rowlock's machine."
	default:
		c.happened = fmt.Sprintf("The certificate of %s is not valid: %s.", f.at(), cut(refused.Err.Error()))
		c.todo = "Replace it."
	}
	return c
}

// outOfDate tells of a certificate before or after its time, which need not be
// the server's own.
func (f failure) outOfDate(bad *x509.Certificate, chain []*x509.Certificate) (happened, todo string) {
	whose := "The certificate of " + f.at()
	if len(chain) == 0 || !bad.Equal(chain[0]) {
		whose = fmt.Sprintf("The certificate of the authority “%s” above that of %s", cut(bad.Subject.CommonName), f.at())
	}
	if time.Now().Before(bad.NotBefore) {
		return fmt.Sprintf("%s is not valid before %s.", whose, moment(bad.NotBefore)), "Check its dates, and the clocks."
	}
	return fmt.Sprintf("%s expired on %s.", whose, moment(bad.NotAfter)), "Renew it."
}

// unknownIssuer tells who signed a certificate that nobody vouches for.
func (f failure) unknownIssuer(chain []*x509.Certificate) string {
	leaf, top := chain[0], chain[len(chain)-1]
	until := " It is valid until " + moment(leaf.NotAfter) + "."
	if bytes.Equal(leaf.RawIssuer, leaf.RawSubject) {
		return "The certificate of " + f.at() + " is self-signed." + until
	}
	issuer := top.Issuer.CommonName
	if issuer == "" {
		issuer = strings.Join(top.Issuer.Organization, ", ")
	}
	return fmt.Sprintf("The certificate of %s is from “%s”, an authority that Rowlock does not trust.%s", f.at(), cut(issuer), until)
}

// namesOf lists for what a certificate is.
func namesOf(cert *x509.Certificate) string {
	names := append([]string(nil), cert.DNSNames...)
	for _, ip := range cert.IPAddresses {
		names = append(names, ip.String())
	}
	switch extra := len(names) - shownNames; {
	case len(names) == 0:
		return "no name at all"
	case extra > 0:
		return cut(strings.Join(names[:shownNames], ", ")) + fmt.Sprintf(" and %d more", extra)
	}
	return cut(strings.Join(names, ", "))
}

// moment is a time of a certificate.
func moment(t time.Time) string { return t.UTC().Format("2 January 2006, 15:04 UTC") }
