package server

import (
	"github.com/rowlock/rowlock/internal/server/api"
	"github.com/rowlock/rowlock/internal/server/ingest"
)

// addRoutes adds every route of the main listener.
func (s *Server) addRoutes() {
	s.router.GET(alivePath, s.healthz)
	s.router.GET(readyPath, s.readyz)
	if s.deps.ServeIngest {
		ingest.Install(s.router, ingest.Options{
			Accept:   s.deps.Accept,
			BaseURL:  s.deps.BaseURL,
			MaxBody:  s.deps.MaxBody,
			Accepted: s.metrics.countAccepted("ingest"),
		})
	}
	if s.deps.ServeAPI {
		api.Install(s.router, api.Options{
			Store:     s.deps.Store,
			Accounts:  s.deps.Accounts,
			Accept:    s.deps.Accept,
			Decide:    s.deps.Decide,
			Deliver:   s.deps.Deliver,
			Endpoints: s.deps.Endpoints,
			Sources:   s.deps.Sources,
			Now:       s.deps.Now,
			Log:       s.deps.Log,
			BaseURL:   s.deps.BaseURL,
			MaxBody:   s.deps.MaxBody,
			Version:   s.deps.Version,
			Accepted:  s.metrics.countAccepted("api"),
		})
	}
}
