package farside

import (
	"context"
	"net"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"
)

const (
	// holeFillers is how many connections at most fill a queue made for none.
	holeFillers = 64
	// holeSilence is after how long without an answer a connection counts as
	// one that the queue has no room for.
	holeSilence = 250 * time.Millisecond
)

// BlackHole is an address that answers no connection, as behind a firewall
// that drops everything: a listener whose queue is full, and which takes
// nothing out of it.
func BlackHole(t testing.TB) string {
	t.Helper()
	address := listenWithoutQueue(t)
	for range holeFillers {
		ctx, cancel := context.WithTimeout(t.Context(), holeSilence)
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
		cancel()
		if err != nil {
			return address
		}
		t.Cleanup(func() { _ = conn.Close() })
	}
	t.Fatal("the queue of a listener that accepts nothing is never full")
	return ""
}

// listenWithoutQueue listens with the shortest queue that there is.
func listenWithoutQueue(t testing.TB) string {
	t.Helper()
	fd, address := bind(t)
	if err := syscall.Listen(fd, 0); err != nil {
		t.Fatal(os.NewSyscallError("listen", err))
	}
	return address
}

// bind takes a free port of this machine, on which nobody listens yet, until the
// test is over.
func bind(t testing.TB) (fd int, address string) {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(os.NewSyscallError("socket", err))
	}
	t.Cleanup(func() { _ = syscall.Close(fd) })
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(os.NewSyscallError("bind", err))
	}
	name, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(os.NewSyscallError("getsockname", err))
	}
	local, ok := name.(*syscall.SockaddrInet4)
	if !ok {
		t.Fatalf("bound to a %T", name)
	}
	return fd, net.JoinHostPort("127.0.0.1", strconv.Itoa(local.Port))
}
