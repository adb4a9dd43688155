package server_test

import (
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rowlock/rowlock/internal/egress"
	"github.com/rowlock/rowlock/internal/farside"
)

// An address that must not be reached is refused when it is entered, with the
// rule, however it is written; in the form as in the API.
func TestForbiddenAddressesAreRefused(t *testing.T) {
	t.Parallel()
	w := newBundle(t, withPages, sendingBy(t, egress.Options{})).signedUp(t, "Acme")
	n := w.tenant()
	for address, rule := range map[string]string{
		"https://127.0.0.1/":          "loopback addresses (127.0.0.0/8)",
		"https://[::ffff:10.0.0.1]/":  "private addresses (10.0.0.0/8)",
		"https://[64:ff9b::a00:1]/":   "private addresses (10.0.0.0/8)",
		"https://[2002:a00:1::]/":     "private addresses (10.0.0.0/8)",
		"https://2130706433/":         "loopback addresses (127.0.0.0/8)",
		"https://0x7f.1/":             "loopback addresses (127.0.0.0/8)",
		"https://0177.0.0.1/":         "loopback addresses (127.0.0.0/8)",
		"https://１２７.0.0.1/":          "loopback addresses (127.0.0.0/8)",
		"https://127.0.0.1./":         "loopback addresses (127.0.0.0/8)",
		"https://169.254.169.254/":    "link-local addresses (169.254.0.0/16, fe80::/10)",
		"https://[fe80::1%25eth0]/":   "link-local addresses (169.254.0.0/16, fe80::/10)",
		"https://[fd00:ec2::254]/":    "metadata service",
		"https://0.0.0.0/":            "unspecified address",
		"http://198.41.0.4/":          "plain http goes only to addresses inside ROWLOCK_ALLOW_NETWORKS",
		"http://hooks.example.com/in": "plain http goes only to addresses inside ROWLOCK_ALLOW_NETWORKS",
	} {
		code := map[bool]string{true: "url_plain_http", false: "url_address_forbidden"}[strings.HasPrefix(address, "http:")]
		p := n.refused(http.StatusUnprocessableEntity, code, http.MethodPost, "/endpoints", object{"url": address})
		if detail := text(p, "detail"); !strings.Contains(detail, rule) {
			t.Errorf("%s: %q, want the rule about %s", address, detail, rule)
		}
		form := w.submit(w.get(w.home+"/endpoints/new"), "form#endpoint", url.Values{"url": {address}})
		form.wantStatus(http.StatusUnprocessableEntity)
		form.wantText("form#endpoint", rule)
	}
}

// A name that leads to one is blocked when it is sent to, also when it led
// elsewhere before, and the attempt names the rule.
func TestNamesOfForbiddenAddressesAreBlocked(t *testing.T) {
	t.Parallel()
	known := map[string]string{
		"loopback.test": "127.0.0.1", "private.test": "10.1.2.3", "mapped.test": "64:ff9b::a01:203", "metadata.test": "169.254.169.254", "zero.test": "0.0.0.0",
	}
	var moved atomic.Bool
	lookUp := func(name string) []string {
		if name == "moves.test" {
			return []string{map[bool]string{false: "127.0.0.1", true: "192.168.7.7"}[moved.Load()]}
		}
		return []string{known[name]}
	}
	client := sendingBy(t, egress.Options{
		AllowExact: []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:1")}, Resolver: farside.Resolver(t, lookUp),
	})
	w := newBundle(t, withPages, client).signedUp(t, "Acme")
	n := w.tenant()
	blocked := func(id, rule string) {
		t.Helper()
		a := n.must(200, http.MethodPost, "/endpoints/"+id+"/test", nil)
		if text(a, "error_kind") != "blocked" || !strings.Contains(text(a, "detail"), rule) {
			t.Errorf("%v %v, want it blocked by %s", a["error_kind"], a["detail"], rule)
		}
		w.get(w.home+"/deliveries/"+text(a, "delivery_id")).wantText("#attempts", rule)
	}
	for name, rule := range map[string]string{
		"loopback.test": "loopback addresses (127.0.0.0/8) are reached only inside ROWLOCK_ALLOW_NETWORKS", "private.test": "private addresses (10.0.0.0/8)",
		"mapped.test": "private addresses (10.0.0.0/8)", "metadata.test": "link-local addresses", "zero.test": "unspecified address",
	} {
		blocked(text(n.must(201, http.MethodPost, "/endpoints", object{"url": "https://" + name + "/"}), "id"), rule)
	}
	id := text(n.must(201, http.MethodPost, "/endpoints", object{"url": "http://moves.test:1/"}), "id")
	if a := n.must(200, http.MethodPost, "/endpoints/"+id+"/test", nil); text(a, "error_kind") != "connect" {
		t.Errorf("at first it is %v %v", a["error_kind"], a["detail"])
	}
	moved.Store(true)
	blocked(id, "private addresses (192.168.0.0/16)")
}
