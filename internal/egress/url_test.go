package egress_test

import (
	"errors"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/rowlock/rowlock/internal/egress"
)

func TestCheckURL(t *testing.T) {
	t.Parallel()
	public := newClient(t, egress.Options{})
	private := newClient(t, egress.Options{Allow: loopback, Deny: []netip.AddrPort{netip.MustParseAddrPort("[::]:8080")}})
	for raw, codes := range map[string][2]string{ // with nothing allowed; with loopback allowed
		"https://hooks.example.com/in?a=b": {}, "HTTPS://Hooks.Example.COM:8443": {}, "https://a_b.example.com./": {}, "https://bücher.example": {},
		"https://1.1.1.1/": {}, "https://[2606:4700::1111]:444/": {}, "https://localhost/": {}, "https://1e100.net/": {}, "https://0x.example/": {},

		"https://127.0.0.1/": {egress.CodeURLAddress}, "https://[::1]:9/": {egress.CodeURLAddress}, "http://127.0.0.1:9/": {egress.CodeURLAddress},
		"https://[::ffff:127.0.0.1]/": {egress.CodeURLAddress}, "http://localhost:9/": {egress.CodeURLPlainHTTP}, "http://hooks.example.com/": {egress.CodeURLPlainHTTP},
		"https://127.0.0.1:8080/": both(egress.CodeURLAddress), "http://[::1]:8080/": both(egress.CodeURLAddress),
		"http://1.1.1.1/": both(egress.CodeURLPlainHTTP), "http://[2606:4700::1111]/": both(egress.CodeURLPlainHTTP),

		"https://10.0.0.1/": both(egress.CodeURLAddress), "https://169.254.169.254/latest": both(egress.CodeURLAddress), "https://0/": both(egress.CodeURLAddress),
		"https://[fe80::1%25eth0]/": both(egress.CodeURLAddress), "https://[64:ff9b::a00:1]/": both(egress.CodeURLAddress), "https://[2002:a00:1::]/": both(egress.CodeURLAddress),
		"https://167772161/": both(egress.CodeURLAddress), "https://0xa000001/": both(egress.CodeURLAddress), "https://012.0.0.1/": both(egress.CodeURLAddress),
		"https://0xA.0x0.0x0.0x1/": both(egress.CodeURLAddress), "https://10.1/": both(egress.CodeURLAddress), "https://10.0.0.1./": both(egress.CodeURLAddress), "https://0x/": both(egress.CodeURLAddress),
		"https://１０.0.0.1/": both(egress.CodeURLAddress), "https://10。0。0。1/": both(egress.CodeURLAddress), "https://⑩.0.0.1/": both(egress.CodeURLAddress),
		"https://2130706433/": {egress.CodeURLAddress, egress.CodeURLHost}, "https://127.1/": {egress.CodeURLAddress, egress.CodeURLHost}, "https://0177.0.0.1/": {egress.CodeURLAddress, egress.CodeURLHost},
		"https://16843009/": both(egress.CodeURLHost), "https://1.1.1.1./": both(egress.CodeURLHost), "https://[2606:4700::1%25eth0]/": both(egress.CodeURLHost),
		"https://1.2.3.4.5/": both(egress.CodeURLHost), "https://1.2.3.256/": both(egress.CodeURLHost), "https://4294967296/": both(egress.CodeURLHost), "https://08.0.0.1/": both(egress.CodeURLHost), "https://example.0x7f/": both(egress.CodeURLHost),

		"": both(egress.CodeURLScheme), "hooks.example.com": both(egress.CodeURLScheme), "ftp://h/": both(egress.CodeURLScheme), "file:///etc/passwd": both(egress.CodeURLScheme), "javascript:x": both(egress.CodeURLScheme), "//h/": both(egress.CodeURLScheme),
		"https://u@h/": both(egress.CodeURLCredentials), "https://u:p@h/": both(egress.CodeURLCredentials), "https://@h/": both(egress.CodeURLCredentials), "https://h#@evil/": both(egress.CodeURLFragment), "https://h/#": both(egress.CodeURLFragment),
		"https://": both(egress.CodeURLHost), "https:///x": both(egress.CodeURLHost), "https:h": both(egress.CodeURLHost), "https://:443/": both(egress.CodeURLHost), "https://a..b/": both(egress.CodeURLHost), "https://./": both(egress.CodeURLHost),
		"https://a*b/": both(egress.CodeURLHost), "https://" + strings.Repeat("a", 64) + ".com/": both(egress.CodeURLHost), "https://" + strings.Repeat("a.", 130) + "com/": both(egress.CodeURLHost), "https://\u200d/": both(egress.CodeURLHost),
		"https://h:0/": both(egress.CodeURLPort), "https://h:65536/": both(egress.CodeURLPort),
		"https://h:x/": both(egress.CodeURLInvalid), "https://h\n/": both(egress.CodeURLInvalid), "https://h h/": both(egress.CodeURLInvalid), "https://127%2e0.0.1/": both(egress.CodeURLInvalid), "https://[::1/": both(egress.CodeURLInvalid),
		"https://h/" + strings.Repeat("x", 2048): both(egress.CodeURLInvalid),
	} {
		for i, c := range []*egress.Client{public, private} {
			if got := codeOf(t, c.CheckURL(raw)); got != codes[i] {
				t.Errorf("%q, client %d: %q, want %q", raw, i, got, codes[i])
			}
		}
	}
}

func both(code string) [2]string { return [2]string{code, code} }

// codeOf returns the code of a *URLError, whose sentence must be one.
func codeOf(t *testing.T, err error) string {
	t.Helper()
	if err == nil {
		return ""
	}
	var refused *egress.URLError
	if !errors.As(err, &refused) {
		t.Fatalf("err = %v, want a *URLError", err)
	}
	if !strings.HasSuffix(refused.Error(), ".") {
		t.Errorf("%q is no sentence", refused)
	}
	return refused.Code
}

func TestCheckURLDoesNotRepeatIt(t *testing.T) {
	t.Parallel()
	c := newClient(t, egress.Options{})
	for _, raw := range []string{"https://u:s3cret@h/", "https://h:s3cret/", "http://h/s3cret", "https://h/s3cret#x", "https://10.0.0.1/s3cret", "s3cret"} {
		if err := c.CheckURL(raw); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%q: %v", raw, err)
		}
	}
}

func FuzzCheckURL(f *testing.F) {
	for _, seed := range []string{"https://h/", "http://0x7f.1/", "https://[::ffff:7f00:1]:80/", "https://１２７。1", "https://u:p@h:1/#f"} {
		f.Add(seed)
	}
	c := egress.New(egress.Options{})
	f.Fuzz(func(t *testing.T, raw string) {
		if code := codeOf(t, c.CheckURL(raw)); code != "" {
			return
		}
		u, err := url.Parse(raw)
		if err != nil || u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.Fragment != "" {
			t.Errorf("accepted %q: %+v, %v", raw, u, err)
		}
		if addr, err := netip.ParseAddr(u.Hostname()); err == nil && (addr.IsLoopback() || addr.IsPrivate() || addr.IsLinkLocalUnicast()) {
			t.Errorf("accepted the address %s", addr)
		}
	})
}
