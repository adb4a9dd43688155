package server

import "github.com/labstack/echo/v4"

// Routes lists every route of the main listener.
func (s *Server) Routes() []*echo.Route { return s.router.Routes() }

// AddRoute adds a route for a test. The server must not have begun to serve.
func (s *Server) AddRoute(method, path string, handle echo.HandlerFunc) {
	s.router.Add(method, path, handle)
}

// MaskPath is what the access log shows of a path.
func MaskPath(path string) string { return maskPath(path) }
