package server

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"runtime/debug"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/server/api"
	"github.com/rowlock/rowlock/internal/server/body"
	"github.com/rowlock/rowlock/internal/server/problem"
)

// contentSecurityPolicy lets pages load what this server serves and nothing
// else: no inline script or style, no frames.
const contentSecurityPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
	"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// referrerPolicy tells no other site where a link was, and is no stricter: with
// no-referrer browsers send "Origin: null" with forms, and on plain http, where
// they say nothing else of where a form stood, each would be refused as another
// site's.
const referrerPolicy = "same-origin"

// useMiddleware sets what happens around every request, the outermost first.
func (s *Server) useMiddleware() {
	s.router.Use(identify, tellOrigin, keepPrivate, s.observe, s.recoverPanics, drainBody, s.refuseWhenDraining)
}

// identify gives the request an id, for logs and for whoever asks about an
// answer, and sets the headers that every answer carries.
func identify(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		h := c.Response().Header()
		h.Set(echo.HeaderXRequestID, rand.Text())
		h.Set("Content-Security-Policy", contentSecurityPolicy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", referrerPolicy)
		return next(c)
	}
}

// tellOrigin notes where the request came from, for the audit log and for keys
// that may be used from some networks alone: the address as the proxies say that
// are believed.
func tellOrigin(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		from := gateway.NewOrigin(c.RealIP(), r.UserAgent())
		c.SetRequest(r.WithContext(gateway.WithOrigin(r.Context(), from)))
		return next(c)
	}
}

// keepPrivate keeps every answer of the API, refusals included, out of caches:
// each is one key's to see.
func keepPrivate(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if path := c.Request().URL.Path; path == api.Prefix || strings.HasPrefix(path, api.Prefix+"/") {
			c.Response().Header().Set(echo.HeaderCacheControl, "no-store")
		}
		return next(c)
	}
}

// refuseWhenDraining answers, once the process is asked to stop, that others
// should be asked: only those who look whether it is ready still get an answer.
func (s *Server) refuseWhenDraining(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if !s.draining.Load() || c.Path() == readyPath || c.Path() == alivePath {
			return next(c)
		}
		c.Response().Header().Set("Connection", "close")
		return problem.New(problem.Stopping, "This server is stopping; nothing was stored.").RetryAfter(time.Second)
	}
}

// recoverPanics turns a panic into an error, so that one request's fault is
// answered and logged, and ends no other.
func (s *Server) recoverPanics(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) (err error) {
		defer func() {
			reason := recover()
			if reason == nil {
				return
			}
			if cause, ok := reason.(error); ok && errors.Is(cause, http.ErrAbortHandler) {
				panic(reason)
			}
			err = &panicError{fmt.Sprint(reason), debug.Stack()}
		}()
		return next(c)
	}
}

// panicError is a panic that was stopped.
type panicError struct {
	reason string
	stack  []byte
}

func (e *panicError) Error() string { return "panic: " + e.reason }

// drainBody reads what a handler left of the body before the answer goes out.
func drainBody(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		received := c.Request()
		defer body.Drain(received)
		return next(c)
	}
}

// clientIP finds the address of who sent a request. X-Forwarded-For counts
// only as far as trusted proxies have written it.
func clientIP(trusted []netip.Prefix) echo.IPExtractor {
	if len(trusted) == 0 {
		return echo.ExtractIPDirect()
	}
	options := []echo.TrustOption{echo.TrustLoopback(false), echo.TrustLinkLocal(false), echo.TrustPrivateNet(false)}
	for _, network := range trusted {
		options = append(options, echo.TrustIPRange(ipNet(network)))
	}
	return echo.ExtractIPFromXFFHeader(options...)
}
