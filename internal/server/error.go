package server

import (
	"errors"
	"log/slog"

	"github.com/labstack/echo/v4"

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
	if c.Response().Committed {
		return
	}
	if err := p.Write(c.Response()); err != nil {
		s.deps.Log.DebugContext(c.Request().Context(), "answer lost", slog.Any("error", err))
	}
}

func problemOf(err error) *problem.Problem {
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
