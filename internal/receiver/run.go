package receiver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

const (
	// headerTimeout and bodyTimeout bound how long a request may take to
	// arrive.
	headerTimeout = 5 * time.Second
	bodyTimeout   = 60 * time.Second
	// idleTimeout is how long a sender's connection is kept.
	idleTimeout = 2 * time.Minute
	// stopTimeout bounds the wait for answers under way when stopping; waiting
	// delays end at once, so that what is left is writing.
	stopTimeout = 5 * time.Second
)

// Run listens, prints its address, and serves until ctx is done; then it
// prints the counts. Stopping is no error.
func (r *Receiver) Run(ctx context.Context) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", r.options.Listen)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	r.print("receiver at " + address(listener.Addr()))
	server := &http.Server{
		Handler:           r,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       bodyTimeout + r.options.Delay, // it would end a longer delay too
		IdleTimeout:       idleTimeout,
		BaseContext:       func(net.Listener) context.Context { return ctx },
	}
	stopped := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() { stopped <- shutdown(context.WithoutCancel(ctx), server) })
	err = server.Serve(listener)
	if !stop() { // ctx is done: the end was asked for
		err = <-stopped
	}
	r.print(r.Counts().String())
	return err
}

// shutdown lets answers under way finish, for a while.
func shutdown(ctx context.Context, server *http.Server) error {
	ctx, cancel := context.WithTimeout(ctx, stopTimeout)
	defer cancel()
	if err := server.Shutdown(ctx); err != nil {
		return fmt.Errorf("stop receiver: %w", errors.Join(err, server.Close()))
	}
	return nil
}

func (r *Receiver) print(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, _ = fmt.Fprintln(r.options.Out, text)
}

// address is the URL to give to an endpoint. A listener on every interface is
// named by the name that works here.
func address(a net.Addr) string {
	host, port, err := net.SplitHostPort(a.String())
	if err != nil {
		return "http://" + a.String() + "/"
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	return "http://" + net.JoinHostPort(host, port) + "/"
}
