// Package server is Rowlock's HTTP side: the API, the addresses that providers
// send to, health and metrics. It owns the listeners; what it answers comes
// from the use cases.
package server

import (
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/rowlock/rowlock/internal/accept"
	"github.com/rowlock/rowlock/internal/account"
	"github.com/rowlock/rowlock/internal/decide"
	"github.com/rowlock/rowlock/internal/deliver"
	"github.com/rowlock/rowlock/internal/endpoint"
	"github.com/rowlock/rowlock/internal/source"
	"github.com/rowlock/rowlock/internal/store"
)

// Deps are what a Server is made of.
type Deps struct {
	// ServeAPI and ServeIngest are the roles: routes of a role that is off are
	// absent.
	ServeAPI, ServeIngest bool

	// Listen is the address of API and ingest, MetricsListen that of metrics
	// and profiles; empty: none.
	Listen, MetricsListen string
	// BaseURL is the public address, without a slash at the end.
	BaseURL string
	// TrustedProxies are those whose X-Forwarded-For is believed, and only for
	// the access log.
	TrustedProxies []netip.Prefix
	// MaxBody is the largest body or data of one event, in bytes.
	MaxBody int
	// Version is the product's.
	Version string

	// Store and the use cases. Those of a role that is off may be nil.
	Store     *store.Store
	Accounts  *account.Service
	Accept    *accept.Service
	Decide    *decide.Service
	Deliver   *deliver.Service
	Endpoints *endpoint.Service
	Sources   *source.Service

	// Ready are the checks of /readyz.
	Ready []Check
	// Now is the node's corrected clock.
	Now func() time.Time
	Log *slog.Logger
	// Metrics is where the server's metrics are registered, and what the
	// metrics listener shows; nil makes a registry.
	Metrics *prometheus.Registry
}

// Server answers HTTP requests.
type Server struct {
	deps    Deps
	router  *echo.Echo
	metrics *metrics

	draining atomic.Bool
	servers  []*http.Server
	bound    net.Addr
	serving  sync.WaitGroup
	failed   chan error
}

// New makes a Server. It does not listen yet.
func New(d Deps) *Server {
	if d.Metrics == nil {
		d.Metrics = prometheus.NewRegistry()
	}
	s := &Server{
		deps:    d,
		router:  echo.New(),
		metrics: newMetrics(d.Metrics),
		failed:  make(chan error, maxListeners),
	}
	s.router.HTTPErrorHandler = s.answerError
	s.router.IPExtractor = clientIP(d.TrustedProxies)
	s.useMiddleware()
	s.addRoutes()
	return s
}

// ServeHTTP answers one request of the main listener. HEAD is answered wherever
// GET is, as GET: net/http sends the headers and leaves the body out.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodHead {
		r = asGet(r)
	}
	s.router.ServeHTTP(w, r)
}
