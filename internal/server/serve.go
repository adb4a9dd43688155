package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"
)

const (
	// headerTimeout bounds how long a request's headers may take.
	headerTimeout = 5 * time.Second
	// bodyTimeout bounds a whole request, headers and body.
	bodyTimeout = 30 * time.Second
	// answerTimeout bounds handling and writing; a test send may take a
	// minute by itself.
	answerTimeout = 2 * time.Minute
	// idleTimeout is how long a connection is kept for the next request.
	idleTimeout = 2 * time.Minute
	// maxHeaderBytes is eight times what browsers and providers send.
	maxHeaderBytes = 64 << 10
	// maxListeners is the main one and the one for metrics.
	maxListeners = 2
)

// Start opens the listeners and serves until Shutdown. It returns as soon as
// the addresses are bound; a listener that ends later is told by Failed.
func (s *Server) Start(ctx context.Context) error {
	main, err := s.listen(ctx, s.deps.Listen, s)
	if err != nil {
		return err
	}
	s.bound = main.Addr()
	if s.deps.MetricsListen == "" {
		return nil
	}
	if _, err := s.listen(ctx, s.deps.MetricsListen, s.metricsHandler()); err != nil {
		return errors.Join(err, s.Shutdown(ctx))
	}
	return nil
}

func (s *Server) listen(ctx context.Context, address string, handler http.Handler) (net.Listener, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", address, err)
	}
	server := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       bodyTimeout,
		WriteTimeout:      answerTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(s.deps.Log.Handler(), slog.LevelDebug),
	}
	s.servers = append(s.servers, server)
	s.serving.Go(func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			s.failed <- fmt.Errorf("serve on %s: %w", address, err)
		}
	})
	return listener, nil
}

// Addr is where the main listener is bound; nil before Start.
func (s *Server) Addr() net.Addr { return s.bound }

// Failed tells of a listener that ended by itself.
func (s *Server) Failed() <-chan error { return s.failed }

// askedWithin is for how long somebody who asked /readyz counts as one who decides
// by it where to send. Load balancers ask every few seconds.
const askedWithin = time.Minute

// Leave turns /readyz to 503, and goes on serving for a while, in which load
// balancers notice. Where nobody looks at /readyz it does not wait. It ends early
// when the server does.
func (s *Server) Leave(pause time.Duration) {
	s.leaving.Store(true)
	asked := s.asked.Load()
	if asked == 0 || time.Since(time.Unix(0, asked)) > askedWithin {
		return
	}
	select {
	case <-time.After(pause):
	case <-s.stopping:
	}
}

// Drain turns /readyz to 503, so that a load balancer sends no more, and
// refuses what comes all the same; what is under way goes on, save streams,
// which have no end of their own.
func (s *Server) Drain() {
	s.leaving.Store(true)
	s.draining.Store(true)
	s.stopOnce.Do(func() { close(s.stopping) })
}

// Shutdown takes no new connections, lets the requests under way finish until
// ctx ends, and then closes what is left.
func (s *Server) Shutdown(ctx context.Context) error {
	s.Drain()
	var errs []error
	for _, server := range s.servers {
		if err := server.Shutdown(ctx); err != nil {
			errs = append(errs, fmt.Errorf("finish requests: %w", err), server.Close())
		}
	}
	s.serving.Wait()
	return errors.Join(errs...)
}
