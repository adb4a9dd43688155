package egress_test

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/egress"
	"github.com/rowlock/rowlock/internal/farside"
	"github.com/rowlock/rowlock/internal/gateway"
)

// Each thing that can be wrong with a certificate is told by itself.
func TestSendTellsWhatIsWrongWithACertificate(t *testing.T) {
	t.Parallel()
	known, other := farside.NewAuthority(t, "Known"), farside.NewAuthority(t, "Private \u202eCA")
	own := []string{"hooks.test"}
	past, future := time.Date(2024, 5, 6, 7, 8, 0, 0, time.UTC), time.Now().Add(48*time.Hour)
	resolver := farside.Names(t, map[string]string{"hooks.test": "127.0.0.1"})
	for name, c := range map[string]struct {
		certificate tls.Certificate
		words       []string
	}{
		"expired":       {known.Issue(farside.Certificate{Names: own, From: past.AddDate(-1, 0, 0), Until: past}), []string{"expired on 6 May 2024, 07:08 UTC.", "Renew it."}},
		"not yet":       {known.Issue(farside.Certificate{Names: own, From: future, Until: future.AddDate(1, 0, 0)}), []string{"is not valid before " + future.UTC().Format("2 January 2006")}},
		"wrong name":    {known.Issue(farside.Certificate{Names: []string{"a.test", "10.1.2.3"}}), []string{"is for a.test, 10.1.2.3, not for hooks.test. It is valid until "}},
		"many names":    {known.Issue(farside.Certificate{Names: []string{"a.test", "b.test", "c.test", "d.test", "e.test"}}), []string{"is for a.test, b.test, c.test and 2 more, not for hooks.test"}},
		"no name":       {known.Issue(farside.Certificate{}), []string{"is for no name at all"}},
		"self-signed":   {farside.SelfSigned(t, farside.Certificate{Names: own}), []string{"is self-signed. It is valid until "}},
		"own authority": {other.Issue(farside.Certificate{Names: own}), []string{"is from “Private \ufffdCA”, an authority that Rowlock does not trust. It is valid until "}},
	} {
		address := farside.ServeTLS(t, c.certificate, farside.Answer("HTTP/1.1 200 OK\r\n\r\n"))
		_, port, _ := net.SplitHostPort(address)
		client := newClient(t, egress.Options{Allow: loopback, RootCAs: known.Roots(), Resolver: resolver})
		result := post(t, client, "https://hooks.test:"+port+"/s3cret", "x")
		for _, words := range c.words {
			expect(t, result, gateway.ErrorTLS, words)
		}
		if !strings.Contains(result.Detail, "hooks.test:"+port) {
			t.Errorf("%s: %q names no far side", name, result.Detail)
		}
	}
}

func TestSendTrustsACertificate(t *testing.T) {
	t.Parallel()
	authority := farside.NewAuthority(t, "Known")
	address := farside.ServeTLS(t, authority.Issue(farside.Certificate{Names: []string{"127.0.0.1"}}), farside.Answer("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))
	for roots, want := range map[*x509.CertPool]gateway.Outcome{
		authority.Roots(): gateway.OutcomeSucceeded, x509.NewCertPool(): gateway.OutcomeUnreachable,
	} {
		client := newClient(t, egress.Options{Allow: loopback, RootCAs: roots})
		if result := post(t, client, "https://"+address, "x"); result.Outcome != want {
			t.Errorf("%s %s, want %s", result.Outcome, result.Detail, want)
		}
	}
}
