package server

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/labstack/echo/v4"
)

// readyTimeout bounds each check of /readyz; a load balancer asks every few
// seconds.
const readyTimeout = 2 * time.Second

// Where load balancers look.
const (
	alivePath = "/healthz"
	readyPath = "/readyz"
)

// Check is one thing without which this process should get no traffic.
type Check struct {
	// Name is shown to whoever asks, e.g. "database".
	Name string
	// Ready returns why it is not there; that is logged, never shown.
	Ready func(context.Context) error
}

// readiness is what /readyz says.
type readiness struct {
	Ready   bool     `json:"ready"`
	Missing []string `json:"missing"`
}

func (s *Server) healthz(c echo.Context) error {
	return c.JSON(http.StatusOK, map[string]bool{"alive": true})
}

func (s *Server) readyz(c echo.Context) error {
	ctx, cancel := context.WithTimeout(c.Request().Context(), readyTimeout)
	defer cancel()
	state := readiness{Missing: s.missing(ctx)}
	s.asked.Store(time.Now().UnixNano())
	if s.leaving.Load() {
		state.Missing = append(state.Missing, "shutting down")
	}
	c.Response().Header().Set("Cache-Control", "no-store")
	if len(state.Missing) > 0 {
		return c.JSON(http.StatusServiceUnavailable, state)
	}
	state.Ready = true
	return c.JSON(http.StatusOK, state)
}

// missing runs the checks at once and names those that fail, in their order.
func (s *Server) missing(ctx context.Context) []string {
	failures := make([]error, len(s.deps.Ready))
	var running sync.WaitGroup
	for i, check := range s.deps.Ready {
		running.Go(func() { failures[i] = check.Ready(ctx) })
	}
	running.Wait()
	missing := []string{}
	for i, err := range failures {
		if err == nil {
			continue
		}
		name := s.deps.Ready[i].Name
		missing = append(missing, name)
		s.deps.Log.WarnContext(ctx, "not ready", slog.String("missing", name), slog.Any("error", err))
	}
	return missing
}
