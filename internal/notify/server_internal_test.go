package notify

import (
	"testing"

	"github.com/wneessen/go-mail"
)

// A mail leaves this machine encrypted, by a server that can prove who it is.
func TestEncryption(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]struct {
		policy mail.TLSPolicy
		lax    bool
	}{
		"smtp://mail.example.com":  {mail.TLSMandatory, false},
		"smtp://10.0.0.1":          {mail.TLSMandatory, false},
		"smtp://localhost.evil":    {mail.TLSMandatory, false},
		"smtp://127.0.0.1:25":      {mail.TLSOpportunistic, true},
		"smtp://localhost":         {mail.TLSOpportunistic, true},
		"smtp://[::ffff:7f00:1]":   {mail.TLSOpportunistic, true},
		"smtps://mail.example.com": {mail.NoTLS, false},
	} {
		s, err := parseServer(url, "http://localhost:8080")
		if err != nil {
			t.Fatal(err)
		}
		if got := s.startTLS(); got != want.policy {
			t.Errorf("%s: %s, want %s", url, got, want.policy)
		}
		if got := s.tls().InsecureSkipVerify; got != want.lax {
			t.Errorf("%s: unverified %v, want %v", url, got, want.lax)
		}
	}
}

func TestPorts(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]int{"smtp://a.example": 587, "smtps://a.example": 465, "smtp://a.example:2525": 2525} {
		if s, err := parseServer(url, ""); err != nil || s.port != want {
			t.Errorf("%s: %+v, %v; want port %d", url, s, err, want)
		}
	}
}
