package farside_test

import (
	"errors"
	"net"
	"syscall"
	"testing"

	"github.com/rowlock/rowlock/internal/farside"
)

// Nobody listens at a closed port, and nobody else can begin to.
func TestClosed(t *testing.T) {
	t.Parallel()
	address := farside.Closed(t)
	if _, err := new(net.Dialer).DialContext(t.Context(), "tcp", address); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("a connection: %v", err)
	}
	if taken, err := new(net.ListenConfig).Listen(t.Context(), "tcp", address); err == nil {
		_ = taken.Close()
		t.Error("its port was taken")
	}
}
