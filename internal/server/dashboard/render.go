package dashboard

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"strings"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"
)

// compressFrom is the size in bytes from which a page is worth compressing:
// one packet holds less.
const compressFrom = 1400

// render answers with a page. It is rendered whole before a byte goes out, so
// that one that fails is a clean error.
func (v *visit) render(status int, page templ.Component) error {
	var text bytes.Buffer
	if err := page.Render(v.ctx(), &text); err != nil {
		return fmt.Errorf("render page: %w", err)
	}
	h := v.Response().Header()
	h.Add("Vary", "HX-Request")
	h.Add("Vary", "Accept-Encoding")
	if text.Len() < compressFrom || !strings.Contains(v.Request().Header.Get(echo.HeaderAcceptEncoding), "gzip") {
		return v.HTMLBlob(status, text.Bytes())
	}
	return v.compressed(status, text.Bytes())
}

func (v *visit) compressed(status int, text []byte) error {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write(text); err != nil {
		return fmt.Errorf("compress page: %w", err)
	}
	if err := w.Close(); err != nil {
		return fmt.Errorf("compress page: %w", err)
	}
	v.Response().Header().Set(echo.HeaderContentEncoding, "gzip")
	return v.HTMLBlob(status, packed.Bytes())
}

// page is render for what went well.
func (v *visit) page(page templ.Component) error { return v.render(http.StatusOK, page) }

// invalid is render for a form that is shown again, with what is wrong in it.
func (v *visit) invalid(page templ.Component) error {
	return v.render(http.StatusUnprocessableEntity, page)
}
