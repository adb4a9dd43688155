package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"

	"github.com/labstack/echo/v4"
)

// introduction stands at the head of the OpenAPI document and of the pages.
const introduction = `Send events in, and have them delivered to endpoints: signed, retried, and recorded attempt by attempt.

Every call carries an API key, as Authorization: Bearer rk_…. A key has scopes; each operation names the one it needs. Secrets are shown to keys with the scope manage alone.

Ids begin with the kind of their object (evt_, ep_, dlv_, att_, src_, sec_, req_, key_) and sort by time. Where you gave an object a uid, it can stand for the id in every path.

Lists come newest first, in parts: give next_cursor back as cursor. Times are RFC 3339, in UTC with microseconds. Durations are written 10s, 1m30s, 24h.

Whatever is not a success is a problem document (RFC 9457) with a stable code. Field names are exact: unknown, misspelt and repeated fields are refused, so that a typo does not pass silently. Only data is yours alone: any JSON, kept and delivered byte for byte.`

// serveDocs adds the OpenAPI document and the pages made of it.
func (a *API) serveDocs(e *echo.Echo) {
	e.GET("/api/openapi.json", serveText("application/openapi+json", func() ([]byte, error) {
		text, err := json.MarshalIndent(a.huma.OpenAPI(), "", "  ")
		if err != nil {
			return nil, fmt.Errorf("write the OpenAPI document: %w", err)
		}
		return text, nil
	}))
	e.GET("/api/openapi.yaml", serveText("application/openapi+yaml", func() ([]byte, error) {
		text, err := a.huma.OpenAPI().YAML()
		if err != nil {
			return nil, fmt.Errorf("write the OpenAPI document: %w", err)
		}
		return text, nil
	}))
	e.GET("/api/docs", serveText("text/html; charset=utf-8", a.docsPage))
	e.GET("/api/docs/docs.css", serveText("text/css; charset=utf-8", func() ([]byte, error) { return docsStyle, nil }))
}

// serveText answers with a text that is made at the first request and never
// changes while the process lives.
func serveText(mediaType string, render func() ([]byte, error)) echo.HandlerFunc {
	once := sync.OnceValues(render)
	return func(c echo.Context) error {
		text, err := once()
		if err != nil {
			return err
		}
		c.Response().Header().Set("Cache-Control", "no-cache")
		return c.Blob(http.StatusOK, mediaType, text)
	}
}
