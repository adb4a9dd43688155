package egress

import (
	"errors"
	"net"
	"net/netip"
	"strings"
	"syscall"
	"testing"
	"time"
)

// What a name resolves to is told where anybody can look it up, and kept where
// it is inside of somebody's network.
func TestFailureNamesTheFarSide(t *testing.T) {
	t.Parallel()
	policy := newPolicy(Options{Allow: prefixes("10.0.0.0/8")})
	for name, c := range map[string]struct{ host, addr, want string }{
		"public":         {"hooks.example.com", "198.41.0.4", "hooks.example.com:443 (198.41.0.4) refused"},
		"public IPv6":    {"hooks.example.com", "2606:4700::1111", "hooks.example.com:443 (2606:4700::1111) refused"},
		"private":        {"hooks.internal", "10.1.2.3", "hooks.internal:443 refused"},
		"loopback":       {"hooks.internal", "127.0.0.1", "hooks.internal:443 refused"},
		"literal":        {"198.41.0.4", "198.41.0.4", "198.41.0.4:443 refused"},
		"literal IPv6":   {"2606:4700::1111", "2606:4700::1111", "[2606:4700::1111]:443 refused"},
		"never resolved": {"hooks.example.com", "", "hooks.example.com:443 refused"},
	} {
		op := &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
		if c.addr != "" {
			op.Addr = net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(c.addr), 443))
		}
		f := failure{peer: peer{c.host, 443}, trace: &trace{}, policy: policy, err: op}
		if got := f.result().Detail; !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		f.err, f.ended, f.timeout = errors.New("ended"), errTimeout, 15*time.Second
		f.trace = &trace{stage: stageWait, dialled: net.JoinHostPort(c.addr, "443")}
		waited := "No answer in 15 s. Rowlock connected to " + strings.TrimSuffix(c.want, " refused") + " and then waited."
		if got := f.result().Detail; !strings.HasPrefix(got, waited) {
			t.Errorf("%s: %q, want %q", name, got, waited)
		}
	}
}

func TestSpan(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		300 * time.Millisecond: "300 ms", time.Second: "1 s", 90 * time.Second: "90 s", 1500 * time.Millisecond: "1.5s", 10 * time.Minute: "10m0s",
	} {
		if got := span(d); got != want {
			t.Errorf("%s: %q, want %q", d, got, want)
		}
	}
}
