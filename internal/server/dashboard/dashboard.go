// Package dashboard is what people see in a browser: pages that are rendered
// whole on the server, and forms that answer with a redirect. Scripts make it
// quicker and nothing depends on them.
package dashboard

import (
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/rowlock/rowlock/internal/accept"
	"github.com/rowlock/rowlock/internal/account"
	"github.com/rowlock/rowlock/internal/claim"
	"github.com/rowlock/rowlock/internal/config"
	"github.com/rowlock/rowlock/internal/decide"
	"github.com/rowlock/rowlock/internal/deliver"
	"github.com/rowlock/rowlock/internal/endpoint"
	"github.com/rowlock/rowlock/internal/eventtype"
	"github.com/rowlock/rowlock/internal/explore"
	"github.com/rowlock/rowlock/internal/notify"
	"github.com/rowlock/rowlock/internal/operate"
	"github.com/rowlock/rowlock/internal/reconcile"
	"github.com/rowlock/rowlock/internal/server/access"
	"github.com/rowlock/rowlock/internal/source"
	"github.com/rowlock/rowlock/internal/store"
)

// Options are what the dashboard is made of.
type Options struct {
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
	Reconcile  *reconcile.Service
	Notify     *notify.Service
	// Now is the node's corrected clock.
	Now func() time.Time
	Log *slog.Logger
	// BaseURL is the public address, without a slash at the end. Cookies are
	// for https alone if it is one.
	BaseURL string
	// MailOut tells that mails are sent, and do not only wait to be read.
	MailOut bool
	// Retention is how long events are kept.
	Retention time.Duration
	Limits    Limits
	// Settings are what the process runs with.
	Settings []config.Setting
	// Version is the product's.
	Version string
	// Kit adds the page of all components, for who works on them.
	Kit bool
	// Jobs is the queue's own console, served under /instance/jobs; nil for
	// none.
	Jobs http.Handler
	// Stopping is closed when the process is asked to end, so that streams do.
	Stopping <-chan struct{}
}

// Dashboard answers browsers.
type Dashboard struct {
	Options

	base     *url.URL
	sessions *sessionStore
	origins  *http.CrossOriginProtection
	streams  streams
	// access is who each route is for.
	access access.Routes
}

// New makes a Dashboard.
func New(o Options) (*Dashboard, error) {
	base, err := url.Parse(o.BaseURL)
	if err != nil {
		return nil, err
	}
	origins := http.NewCrossOriginProtection()
	if err := origins.AddTrustedOrigin(base.Scheme + "://" + base.Host); err != nil {
		return nil, err
	}
	return &Dashboard{
		Options:  o,
		base:     base,
		sessions: newSessionStore(o.Accounts, base.Scheme == "https"),
		origins:  origins,
	}, nil
}

// Access lists the routes, and who each is for.
func (d *Dashboard) Access() access.Routes { return d.access }

// Install adds every route of the dashboard.
func (d *Dashboard) Install(e *echo.Echo) { d.addRoutes(e) }
