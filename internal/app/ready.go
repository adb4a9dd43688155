package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"

	"github.com/rowlock/rowlock/internal/client"
	"github.com/rowlock/rowlock/internal/config"
)

// Ready asks the server that runs on this machine with the same settings whether
// it can do its work, and says so. That it cannot is the error.
func Ready(ctx context.Context, c config.Config, w io.Writer) error {
	address, err := ownServer(string(c.Listen))
	if err != nil {
		return err
	}
	found, err := client.Look(ctx, "http://"+address)
	if err != nil {
		return err
	}
	switch found {
	case client.Ready:
		_, err = fmt.Fprintln(w, "ready")
		return err
	case client.Starting:
		return &advised{fmt.Errorf("the server at %s is not ready", address), "It starts, or it stops, or it misses something: its log and /readyz say what."}
	default:
		return &advised{fmt.Errorf("no Rowlock answers at %s", address), "Does `rowlock serve` run here, with this ROWLOCK_LISTEN?"}
	}
}

// ownServer is where a server that listens so is reached from its own machine.
func ownServer(listen string) (string, error) {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return "", fmt.Errorf("read ROWLOCK_LISTEN: %w", err)
	}
	if port == "0" {
		return "", &advised{errors.New("ROWLOCK_LISTEN leaves the port to the system, so that nobody knows it"), "Give it a port, such as :8080."}
	}
	// A name would need a file of names, which a container may not have.
	switch addr, err := netip.ParseAddr(host); {
	case host == "" || err == nil && addr == netip.IPv4Unspecified():
		host = "127.0.0.1"
	case err == nil && addr.IsUnspecified():
		host = "::1"
	}
	return net.JoinHostPort(host, port), nil
}
