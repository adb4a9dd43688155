package farside

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net"
	"testing"
	"time"
)

// Authority signs certificates for tests.
type Authority struct {
	t           testing.TB
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// Certificate is what an Authority is to certify.
type Certificate struct {
	// Names are host names and addresses.
	Names []string
	// From and Until bound its time; zero is a day before and after now.
	From, Until time.Time
}

const day = 24 * time.Hour

// NewAuthority makes an authority of this name.
func NewAuthority(t testing.TB, name string) *Authority {
	t.Helper()
	a := &Authority{t: t, key: newKey(t)}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-365 * day), NotAfter: time.Now().Add(365 * day),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	a.certificate = parse(t, sign(t, template, template, a.key, a.key))
	return a
}

// Roots trusts the authority and nobody else.
func (a *Authority) Roots() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.certificate)
	return pool
}

// Issue certifies a server.
func (a *Authority) Issue(c Certificate) tls.Certificate {
	a.t.Helper()
	key := newKey(a.t)
	der := sign(a.t, c.template(), a.certificate, key, a.key)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// SelfSigned is a certificate by which a server vouches for itself.
func SelfSigned(t testing.TB, c Certificate) tls.Certificate {
	t.Helper()
	key, template := newKey(t), c.template()
	return tls.Certificate{Certificate: [][]byte{sign(t, template, template, key, key)}, PrivateKey: key}
}

func (c Certificate) template() *x509.Certificate {
	made := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "server"},
		NotBefore: c.From, NotAfter: c.Until, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	if c.From.IsZero() {
		made.NotBefore = time.Now().Add(-day)
	}
	if c.Until.IsZero() {
		made.NotAfter = time.Now().Add(day)
	}
	for _, name := range c.Names {
		if ip := net.ParseIP(name); ip != nil {
			made.IPAddresses = append(made.IPAddresses, ip)
		} else {
			made.DNSNames = append(made.DNSNames, name)
		}
	}
	return made
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func sign(t testing.TB, template, parent *x509.Certificate, key, by *ecdsa.PrivateKey) []byte {
	t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, by)
	if err != nil {
		t.Fatal(err)
	}
	return der
}

func parse(t testing.TB, der []byte) *x509.Certificate {
	t.Helper()
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return certificate
}
