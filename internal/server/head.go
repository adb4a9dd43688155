package server

import (
	"context"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/rowlock/rowlock/internal/gateway"
)

// headIsGet tells whether HEAD is answered as GET is. Not so where providers
// send to: some mean something by HEAD, and each kind says what it takes.
func headIsGet(r *http.Request) bool { return !strings.HasPrefix(r.URL.Path, gateway.IngestPath) }

// headKey marks a request that came as HEAD.
type headKey struct{}

// asGet makes a GET of a HEAD, which logs and metrics still know for one.
func asGet(r *http.Request) *http.Request {
	r = r.WithContext(context.WithValue(r.Context(), headKey{}, true))
	r.Method = http.MethodGet
	return r
}

// methodOf is the method that a request came with.
func methodOf(r *http.Request) string {
	if r.Context().Value(headKey{}) != nil {
		return http.MethodHead
	}
	return r.Method
}

// allowHead adds HEAD to the methods that the router lists with a refusal.
func allowHead(c echo.Context) {
	if !headIsGet(c.Request()) {
		return
	}
	allowed := c.Response().Header().Get(echo.HeaderAllow)
	for method := range strings.SplitSeq(allowed, ", ") {
		if method == http.MethodGet {
			c.Response().Header().Set(echo.HeaderAllow, allowed+", "+http.MethodHead)
		}
	}
}
