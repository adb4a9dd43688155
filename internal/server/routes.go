package server

import (
	"fmt"

	"github.com/rowlock/rowlock/internal/server/api"
	"github.com/rowlock/rowlock/internal/server/dashboard"
	"github.com/rowlock/rowlock/internal/server/ingest"
)

// addRoutes adds every route of the main listener.
func (s *Server) addRoutes() error {
	s.router.GET(alivePath, s.healthz)
	s.router.GET(readyPath, s.readyz)
	if s.deps.ServeIngest {
		ingest.Install(s.router, ingest.Options{
			Accept:   s.deps.Accept,
			BaseURL:  s.deps.BaseURL,
			MaxBody:  s.deps.MaxBody,
			Accepted: s.metrics.countAccepted(viaIngest),
		})
	}
	if s.deps.ServeAPI {
		s.api = api.Install(s.router, api.Options{
			Store:      s.deps.Store,
			Accounts:   s.deps.Accounts,
			Accept:     s.deps.Accept,
			Decide:     s.deps.Decide,
			Deliver:    s.deps.Deliver,
			Endpoints:  s.deps.Endpoints,
			Sources:    s.deps.Sources,
			Claims:     s.deps.Claims,
			EventTypes: s.deps.EventTypes,
			Operate:    s.deps.Operate,
			Explore:    s.deps.Explore,
			Reconcile:  s.deps.Reconcile,
			Now:        s.deps.Now,
			Log:        s.deps.Log,
			BaseURL:    s.deps.BaseURL,
			MaxBody:    s.deps.MaxBody,
			Version:    s.deps.Version,
			Stopping:   s.stopping,
			Accepted:   s.metrics.countAccepted(viaAPI),
			Refused:    s.metrics.refusedBy(viaAPI),
		})
	}
	return s.addPages()
}

// addPages adds the dashboard, if this process serves it.
func (s *Server) addPages() error {
	if !s.deps.ServeWeb {
		return nil
	}
	pages, err := dashboard.New(dashboard.Options{
		Store:      s.deps.Store,
		Accounts:   s.deps.Accounts,
		Accept:     s.deps.Accept,
		Decide:     s.deps.Decide,
		Deliver:    s.deps.Deliver,
		Endpoints:  s.deps.Endpoints,
		Sources:    s.deps.Sources,
		Claims:     s.deps.Claims,
		EventTypes: s.deps.EventTypes,
		Operate:    s.deps.Operate,
		Explore:    s.deps.Explore,
		Reconcile:  s.deps.Reconcile,
		Notify:     s.deps.Notify,
		Now:        s.deps.Now,
		Log:        s.deps.Log,
		BaseURL:    s.deps.BaseURL,
		MailOut:    s.deps.MailOut,
		Retention:  s.deps.Retention,
		Limits:     s.deps.Limits,
		Settings:   s.deps.Settings,
		Version:    s.deps.Version,
		Kit:        s.deps.Kit,
		Jobs:       s.deps.Jobs,
		Stopping:   s.stopping,
	})
	if err != nil {
		return fmt.Errorf("make the dashboard: %w", err)
	}
	pages.Install(s.router)
	s.pages = pages
	return nil
}
