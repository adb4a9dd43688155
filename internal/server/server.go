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
	"github.com/rowlock/rowlock/internal/claim"
	"github.com/rowlock/rowlock/internal/config"
	"github.com/rowlock/rowlock/internal/decide"
	"github.com/rowlock/rowlock/internal/deliver"
	"github.com/rowlock/rowlock/internal/endpoint"
	"github.com/rowlock/rowlock/internal/eventtype"
	"github.com/rowlock/rowlock/internal/explore"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/notify"
	"github.com/rowlock/rowlock/internal/operate"
	"github.com/rowlock/rowlock/internal/reconcile"
	"github.com/rowlock/rowlock/internal/server/api"
	"github.com/rowlock/rowlock/internal/server/dashboard"
	"github.com/rowlock/rowlock/internal/source"
	"github.com/rowlock/rowlock/internal/store"
)

// Deps are what a Server is made of.
type Deps struct {
	// ServeWeb, ServeAPI and ServeIngest are the roles: routes of a role that is
	// off are absent.
	ServeWeb, ServeAPI, ServeIngest bool

	// Listen is the address of API and ingest, MetricsListen that of metrics
	// and profiles; empty: none.
	Listen, MetricsListen string
	// BaseURL is the public address, without a slash at the end.
	BaseURL string
	// TrustedProxies are those whose X-Forwarded-For is believed: for the access
	// log, for how often one client may try to log in, and in the list of a
	// person's sessions.
	TrustedProxies []netip.Prefix
	// MaxBody is the largest body or data of one event, in bytes.
	MaxBody int
	// Version is the product's.
	Version string
	// MailOut tells that mails are sent, and do not only wait to be read.
	MailOut bool
	// Retention is how long events are kept.
	Retention time.Duration
	// Limits are what an account may have.
	Limits dashboard.Limits
	// Settings are what the process runs with, for the instance's owner.
	Settings []config.Setting
	// Kit adds the page of all components, for who works on them.
	Kit bool

	// Jobs is the queue's own console, for the instance's owner; nil for none.
	Jobs http.Handler

	// Store and the use cases. Those of a role that is off may be nil.
	Store      *store.Store
	Accounts   *account.Service
	Accept     *accept.Service
	Decide     *decide.Service
	Deliver    *deliver.Service
	Endpoints  *endpoint.Service
	Sources    *source.Service
	Claims     *claim.Service
	EventTypes *eventtype.Service
	Operate    *operate.Service
	Explore    *explore.Service
	Notify     *notify.Service
	Reconcile  *reconcile.Service

	// Ready are the checks of /readyz.
	Ready []Check
	// Now is the node's corrected clock.
	Now func() time.Time
	Log *slog.Logger
	// Metrics is where the server's metrics are registered, and what the
	// metrics listener shows; nil makes a registry.
	Metrics *prometheus.Registry
	// Trace begins the span of a request with events, by the way it came, and
	// returns it with what ends it; nil: nothing is traced.
	Trace func(via string, header http.Header) (gateway.Span, func(status int))
}

// Server answers HTTP requests.
type Server struct {
	deps    Deps
	router  *echo.Echo
	metrics *metrics
	// api is nil without the role api, pages without the role web.
	api   *api.API
	pages *dashboard.Dashboard

	// leaving says that load balancers should go elsewhere, draining that what
	// comes all the same is refused.
	leaving, draining atomic.Bool
	// asked is when /readyz was asked last, in nanoseconds since 1970; 0: never.
	asked atomic.Int64
	// stopping is closed when the process is asked to end.
	stopping chan struct{}
	stopOnce sync.Once
	servers  []*http.Server
	bound    net.Addr
	serving  sync.WaitGroup
	failed   chan error
}

// New makes a Server. It does not listen yet. An error is a base URL that pages
// cannot be served under.
func New(d Deps) (*Server, error) {
	if d.Metrics == nil {
		d.Metrics = prometheus.NewRegistry()
	}
	s := &Server{
		deps:    d,
		router:  echo.New(),
		metrics: newMetrics(d.Metrics),
		failed:  make(chan error, maxListeners),

		stopping: make(chan struct{}),
	}
	s.router.HTTPErrorHandler = s.answerError
	s.router.IPExtractor = clientIP(d.TrustedProxies)
	s.useMiddleware()
	if err := s.addRoutes(); err != nil {
		return nil, err
	}
	return s, nil
}

// ServeHTTP answers one request of the main listener. HEAD is answered wherever
// GET is, as GET: net/http sends the headers and leaves the body out.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodHead && headIsGet(r) {
		r = asGet(r)
	}
	s.router.ServeHTTP(w, withWholeName(r))
}
