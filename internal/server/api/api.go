// Package api is the REST API under /api/v1, its OpenAPI document and the
// pages made of it. Each operation is one line of routes.go and one function
// that reads what was sent, calls a use case or the store, and shapes the
// answer.
package api

import (
	"log/slog"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humaecho"
	"github.com/labstack/echo/v4"

	"github.com/rowlock/rowlock/internal/accept"
	"github.com/rowlock/rowlock/internal/account"
	"github.com/rowlock/rowlock/internal/claim"
	"github.com/rowlock/rowlock/internal/decide"
	"github.com/rowlock/rowlock/internal/deliver"
	"github.com/rowlock/rowlock/internal/endpoint"
	"github.com/rowlock/rowlock/internal/eventtype"
	"github.com/rowlock/rowlock/internal/explore"
	"github.com/rowlock/rowlock/internal/operate"
	"github.com/rowlock/rowlock/internal/reconcile"
	"github.com/rowlock/rowlock/internal/server/access"
	"github.com/rowlock/rowlock/internal/server/problem"
	"github.com/rowlock/rowlock/internal/source"
	"github.com/rowlock/rowlock/internal/store"
)

// Prefix is the path below which every operation lies.
const Prefix = "/api/v1"

// Options are what the API is made of.
type Options struct {
	// Store is for reads; whatever changes something goes through a use case.
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

	Now func() time.Time
	Log *slog.Logger
	// BaseURL is the public address of this server, without a slash at the end.
	BaseURL string
	// MaxBody is the largest data of one event, in bytes.
	MaxBody int
	Version string
	// Stopping is closed when the process is asked to end.
	Stopping <-chan struct{}
	// Accepted is told of every event that was taken in; may be nil.
	Accepted func(duplicate bool)
	// Refused is told why a call to publish, or an event of one, was refused; may be
	// nil.
	Refused func(problem.Code)
}

// API answers the operations.
type API struct {
	Options

	huma   huma.API
	routes []route
	// access is who each route is for.
	access access.Routes
}

// Access lists the routes, and who each is for.
func (a *API) Access() access.Routes { return a.access }

// Install adds the operations, the OpenAPI document and the pages to a router.
func Install(e *echo.Echo, o Options) *API {
	a := &API{Options: o}
	a.huma = humaecho.NewWithGroup(e, e.Group(Prefix), newConfig(o))
	a.addRoutes()
	a.addOwnEvents()
	a.completeForms()
	a.serveDocs(e)
	return a
}
