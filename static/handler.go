package static

import (
	"net/http"
	"strconv"
	"strings"
)

// forever lets browsers and proxies keep a file: another content has another
// address.
const forever = "public, max-age=31536000, immutable"

// Handler serves GET and HEAD for the addresses that URL returns, and answers
// 404 to every other. It looks at the whole path, so mount it at /static/
// without stripping that.
func Handler() http.Handler {
	return http.HandlerFunc(serve)
}

func serve(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
		return
	}
	files, err := library()
	if err != nil {
		http.Error(w, "internal error", http.StatusInternalServerError)
		return
	}
	f, ok := files.byURL[r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	f.serve(w, r)
}

// serve sends the whole file, compressed where the browser takes that.
func (f *file) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", f.contentType)
	h.Set("Cache-Control", forever)
	h.Set("X-Content-Type-Options", "nosniff")
	body := f.body
	if f.gzipped != nil {
		h.Set("Vary", "Accept-Encoding")
		if acceptsGzip(r.Header.Get("Accept-Encoding")) {
			h.Set("Content-Encoding", "gzip")
			body = f.gzipped
		}
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	if r.Method == http.MethodGet {
		// A browser that went away needs no answer.
		_, _ = w.Write(body)
	}
}

// acceptsGzip tells whether an Accept-Encoding names gzip and does not refuse
// it with a quality of zero.
func acceptsGzip(header string) bool {
	for part := range strings.SplitSeq(header, ",") {
		coding, params, _ := strings.Cut(part, ";")
		if !strings.EqualFold(strings.TrimSpace(coding), "gzip") {
			continue
		}
		quality, found := strings.CutPrefix(strings.ReplaceAll(params, " ", ""), "q=")
		return !found || strings.Trim(quality, "0.") != ""
	}
	return false
}
