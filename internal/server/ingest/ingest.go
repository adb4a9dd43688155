// Package ingest is where providers send their webhooks: one address a source,
// whose last part is the secret that names it.
package ingest

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/rowlock/rowlock/internal/accept"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/server/body"
	"github.com/rowlock/rowlock/internal/server/problem"
)

// deadline bounds one request's work. Past it the provider is told to come
// again: every one of them has given up by then.
const deadline = 20 * time.Second

// Options are what ingest is made of.
type Options struct {
	Accept *accept.Service
	// BaseURL is the public address of this server, without a slash at the end.
	BaseURL string
	// MaxBody is the largest body taken, in bytes.
	MaxBody int
	// Accepted is told of every event that was taken in; may be nil.
	Accepted func(duplicate bool)
}

// Install adds the routes.
func Install(e *echo.Echo, o Options) {
	h := handler{o}
	e.Any(gateway.IngestPath+":token", h.receive)
	e.Any(gateway.IngestPath+":token/*", h.receive)
}

type handler struct{ Options }

func (h handler) receive(c echo.Context) error {
	if !canBeToken(c.Param("token")) {
		return unknownToken()
	}
	sent, err := body.Read(c.Request(), h.MaxBody)
	if _, large := errors.AsType[*body.TooLargeError](err); large {
		return problem.New(problem.PayloadTooLarge, fmt.Sprintf("The body is larger than the %d bytes that one may have (ROWLOCK_MAX_BODY).", h.MaxBody))
	}
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(c.Request().Context(), deadline)
	defer cancel()
	got, err := h.Accept.Receive(ctx, h.incoming(c, sent))
	if err != nil {
		return explain(c, err)
	}
	for _, event := range got.Events {
		if h.Accepted != nil {
			h.Accepted(event.Duplicate)
		}
	}
	return answer(c, got)
}

// explain says what ingest knows better than the table of errors.
func explain(c echo.Context, err error) error {
	if e, ok := errors.AsType[*accept.MethodError](err); ok {
		c.Response().Header().Set("Allow", strings.Join(e.Allowed, ", "))
		return problem.New(problem.MethodNotAllowed, "This is the address of a webhook: send events to it with POST.")
	}
	if errors.Is(err, gateway.ErrNotFound) {
		return unknownToken()
	}
	return err
}

func unknownToken() error {
	return problem.New(problem.NotFound, "No source has this address: it was deleted, or the address was not copied whole.")
}

// maxToken is longer than any token of ours.
const maxToken = 128

// canBeToken tells whether a part of a path is worth looking up.
func canBeToken(text string) bool {
	return len(text) <= maxToken && !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' })
}

// incoming is the request as it came. Its address is the configured one: what
// a sender or a proxy says of host and scheme is not believed.
func (h handler) incoming(c echo.Context, sent []byte) accept.Incoming {
	r := c.Request()
	token := c.Param("token")
	_, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.EscapedPath(), gateway.IngestPath), "/")
	if rest != "" {
		rest = "/" + rest
	}
	return accept.Incoming{
		Token: token, Method: r.Method, Path: rest, Query: r.URL.RawQuery,
		Header: r.Header, Body: sent, URL: h.BaseURL + gateway.IngestPath + token, Sender: sender(c),
	}
}

// sender is the address that a request came from, as the proxies say that are
// believed.
func sender(c echo.Context) netip.Addr {
	address, err := netip.ParseAddr(c.RealIP())
	if err != nil {
		return netip.Addr{} // it is not known
	}
	return address.WithZone("") // which names an interface of this machine
}
