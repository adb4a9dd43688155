package server

import (
	"errors"
	"log/slog"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/server/api"
	"github.com/rowlock/rowlock/internal/server/dashboard"
	"github.com/rowlock/rowlock/internal/server/problem"
)

// answerError turns whatever a handler or the router returned into the answer.
func (s *Server) answerError(err error, c echo.Context) {
	p := problemOf(err)
	if p.Code == problem.MethodNotAllowed {
		allowHead(c)
	}
	if p.Code == problem.Internal {
		s.logFault(err, c)
	}
	s.metrics.countRefused(c, p.Code)
	if c.Response().Committed {
		return
	}
	if err := s.writeAnswer(err, p, c); err != nil {
		s.deps.Log.DebugContext(c.Request().Context(), "answer lost", slog.Any("error", err))
	}
}

// writeAnswer answers browsers on the dashboard's side with a page, and
// everybody else with a problem.
func (s *Server) writeAnswer(err error, p *problem.Problem, c echo.Context) error {
	if s.pages != nil && isPage(c.Request()) {
		return s.pages.AnswerFailure(err, p, c)
	}
	return p.Write(c.Response())
}

// isPage tells whether somebody with a browser waits for the answer: what
// programs ask for is never answered with a page.
func isPage(r *http.Request) bool {
	path := r.URL.Path
	return dashboard.ForPeople(r) && path != api.Prefix && !strings.HasPrefix(path, api.Prefix+"/") &&
		!strings.HasPrefix(path, gateway.IngestPath)
}

func problemOf(err error) *problem.Problem {
	if refused, ok := errors.AsType[*dashboard.Refusal](err); ok {
		return refused.Problem()
	}
	if routed, ok := errors.AsType[*echo.HTTPError](err); ok {
		return problem.FromStatus(routed.Code)
	}
	return problem.From(err)
}

// logFault logs a fault of ours, with where it happened if it was a panic.
func (s *Server) logFault(err error, c echo.Context) {
	attrs := []slog.Attr{
		slog.String("method", methodOf(c.Request())),
		slog.String("route", c.Path()),
		slog.String("request_id", requestID(c)),
		slog.Any("error", err),
	}
	if p, ok := errors.AsType[*panicError](err); ok {
		attrs = append(attrs, slog.String("stack", string(p.stack)))
	}
	s.deps.Log.LogAttrs(c.Request().Context(), slog.LevelError, "request failed", attrs...)
}
