package server

import (
	"slices"

	"github.com/labstack/echo/v4"

	"github.com/rowlock/rowlock/internal/server/access"
)

// Routes lists every route of the main listener.
func (s *Server) Routes() []*echo.Route { return s.router.Routes() }

// Access lists the routes of pages and API, and who each is for.
func (s *Server) Access() access.Routes { return slices.Concat(s.pages.Access(), s.api.Access()) }

// AddRoute adds a route for a test. The server must not have begun to serve.
func (s *Server) AddRoute(method, path string, handle echo.HandlerFunc) {
	s.router.Add(method, path, handle)
}

// MaskPath is what the access log shows of a path.
func MaskPath(path string) string { return maskPath(path) }
