package server

import (
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"regexp"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/rowlock/rowlock/internal/gateway"
)

// observe counts and logs every request once it is answered, with the route's
// pattern where there is one.
func (s *Server) observe(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		began := time.Now()
		ended := s.trace(c)
		if err := next(c); err != nil {
			c.Error(err)
		}
		took := time.Since(began)
		s.metrics.countRequest(c)
		s.metrics.timeAnswer(c, took)
		s.logAccess(c, took)
		ended(c.Response().Status)
		return nil
	}
}

// trace begins the span of a request with events, and notes it in the request's
// context for what is stored of it.
func (s *Server) trace(c echo.Context) (ended func(status int)) {
	via := wayIn(c)
	if s.deps.Trace == nil || via == "" {
		return func(int) {}
	}
	r := c.Request()
	span, ended := s.deps.Trace(via, r.Header)
	if !span.IsZero() {
		c.SetRequest(r.WithContext(gateway.WithSpan(r.Context(), span)))
	}
	return ended
}

// logAccess writes one line a request. What went well is for debugging: under
// load it would be thousands of lines a second that say what the numbers say.
func (s *Server) logAccess(c echo.Context, took time.Duration) {
	level := slog.LevelDebug
	switch status := c.Response().Status; {
	case status >= http.StatusInternalServerError:
		level = slog.LevelWarn
	case status >= http.StatusBadRequest:
		level = slog.LevelInfo
	}
	ctx := c.Request().Context()
	if !s.deps.Log.Enabled(ctx, level) {
		return
	}
	s.deps.Log.LogAttrs(ctx, level, "request",
		slog.String("method", methodOf(c.Request())),
		slog.String("path", maskPath(c.Request().URL.Path)),
		slog.Int("status", c.Response().Status),
		slog.Int64("bytes", c.Response().Size),
		slog.Duration("took", took),
		slog.String("from", c.RealIP()),
		slog.String("request_id", requestID(c)),
	)
}

// tokenLike is what a token looks like wherever it turns up: its prefix at the
// beginning of a segment, or more random characters in a row than an id has.
var tokenLike = regexp.MustCompile(`(?i)/in_|[0-9a-z]{40}`)

// maskPath leaves out of an address what names a source, and what follows: who
// has it can send to a source that asks for no signature. An address that leads
// nowhere, for a slash or a capital too many, can hold one too. Queries are
// never logged.
func maskPath(path string) string {
	if strings.HasPrefix(path, gateway.IngestPath) {
		return gateway.IngestPath + "[token]"
	}
	found := tokenLike.FindStringIndex(path)
	if found == nil {
		return path
	}
	return path[:strings.LastIndexByte(path[:found[0]+1], '/')+1] + "[token]"
}

func requestID(c echo.Context) string { return c.Response().Header().Get(echo.HeaderXRequestID) }

func ipNet(p netip.Prefix) *net.IPNet {
	return &net.IPNet{IP: p.Addr().AsSlice(), Mask: net.CIDRMask(p.Bits(), p.Addr().BitLen())}
}
