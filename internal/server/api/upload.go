package api

import (
	"context"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humaecho"

	"github.com/rowlock/rowlock/internal/reconcile"
	"github.com/rowlock/rowlock/internal/server/body"
	"github.com/rowlock/rowlock/internal/server/problem"
)

// uploadDeadline bounds the upload of a list, which may be long.
const uploadDeadline = 2 * time.Hour

// upload is a list that comes in.
type upload struct {
	format reconcile.Format
	list   io.Reader
}

// listTypes are the media types of lists.
var listTypes = map[string]reconcile.Format{
	"text/csv":             reconcile.FormatCSV,
	"application/x-ndjson": reconcile.FormatNDJSON,
	"application/ndjson":   reconcile.FormatNDJSON,
	"application/jsonl":    reconcile.FormatNDJSON,
	"application/json":     reconcile.FormatNDJSON, // one value is one line
}

// registerUpload adds an operation whose body is a list, which is read as it
// comes.
func registerUpload[I, O any](a *API, r route, handle func(context.Context, caller, *I, upload) (*O, error)) {
	add(a, r, func(ctx context.Context, c *call, in *I) (*O, error) {
		format, err := listFormat(c.request.Header)
		if err != nil {
			return nil, err
		}
		ctx, cancel := r.limit(ctx)
		defer cancel()
		return handle(ctx, c.caller, in, upload{format, body.Stream(c.writer, c.request)})
	})
	list := func(about string) *huma.MediaType {
		return &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString, Format: "binary", Description: about}}
	}
	a.documented(r).RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
		"text/csv":             list("Commas, semicolons or tabs between columns, quotes around what holds them, one row a line."),
		"application/x-ndjson": list("One JSON value a line: an object, or the key alone, as a text or a number."),
	}}
}

// listFormat tells how a list is written. It may be compressed with gzip, which
// is seen by its first bytes, and whether the header says so or not.
func listFormat(header http.Header) (reconcile.Format, error) {
	if encoding := header.Get("Content-Encoding"); encoding != "" && !strings.EqualFold(encoding, "identity") && !strings.EqualFold(encoding, "gzip") {
		return "", problem.New(problem.EncodingRefused, "Send the list as it is, or compressed with gzip.")
	}
	named, _, err := mime.ParseMediaType(header.Get("Content-Type"))
	format, known := listTypes[named]
	if err != nil || !known {
		return "", problem.At("header.Content-Type", "want text/csv or application/x-ndjson")
	}
	return format, nil
}

// download answers with a text that is written while it is read.
func download(name, mediaType string, write func(context.Context, io.Writer) error) *huma.StreamResponse {
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		hc.SetHeader("Content-Type", mediaType)
		hc.SetHeader("Content-Disposition", `attachment; filename="`+name+`"`)
		hc.SetStatus(http.StatusOK)
		control := http.NewResponseController(humaecho.Unwrap(hc).Response())
		_ = control.SetWriteDeadline(time.Now().Add(uploadDeadline))
		if write(hc.Context(), hc.BodyWriter()) != nil {
			panic(http.ErrAbortHandler) // so that nobody takes a part for the whole
		}
	}}
}
