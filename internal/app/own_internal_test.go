package app

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/rowlock/rowlock/internal/config"
)

// Whatever Rowlock listens on, and every host of its database, is among what
// deliveries never reach.
func TestOwnAddresses(t *testing.T) {
	t.Parallel()
	own := ownAddresses(t.Context(), config.Config{Listen: ":8080", MetricsListen: "127.0.0.1:9090", BaseURL: "http://192.0.2.7:8443"},
		"postgres://u:p@192.0.2.1:5432,192.0.2.2:5433/rowlock?target_session_attrs=read-write")
	for _, want := range []string{"[::]:8080", "127.0.0.1:9090", "192.0.2.7:8443", "192.0.2.1:5432", "192.0.2.2:5433"} {
		if !slices.Contains(own, netip.MustParseAddrPort(want)) {
			t.Errorf("%v lacks %s", own, want)
		}
	}
}

// A database behind a socket on this machine may listen on its port, too.
func TestOwnAddressesOfASocket(t *testing.T) {
	t.Parallel()
	for _, database := range []string{"postgres:///rowlock?host=/run/postgresql&port=5434", "host=/run/postgresql port=5434"} {
		own := ownAddresses(t.Context(), config.Config{}, database)
		if !slices.Contains(own, netip.MustParseAddrPort("[::]:5434")) {
			t.Errorf("%s: %v", database, own)
		}
	}
}
