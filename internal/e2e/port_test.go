package e2e

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
)

const (
	// lowPort and highPort bound the ports that are tried. They are below
	// those that kernels give to outgoing connections, so that a process that
	// starts again finds its port free.
	lowPort, highPort = 15000, 32000
	// portTries is far more than it takes on a machine with free ports.
	portTries = 100
)

// freePort finds a port that nobody listens on.
func freePort() (int, error) {
	for range portTries {
		port := lowPort + rand.IntN(highPort-lowPort)
		listener, err := net.Listen("tcp", loopback(port))
		if err == nil {
			return port, listener.Close()
		}
	}
	return 0, errors.New("find a free port: none of those tried")
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
