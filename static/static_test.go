package static_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/rowlock/rowlock/static"
)

// names are the files that pages ask for. Those below fonts are asked for by
// the style sheet, or loaded before it.
var names = []string{
	"app.css", "app.js", "htmx.min.js", "icon.svg", "licenses.txt",
	"fonts/geist.woff2", "fonts/geist-ext.woff2", "fonts/geist-mono.woff2", "fonts/geist-mono-ext.woff2",
}

var hashed = regexp.MustCompile(`^/static/[a-z./-]+\.[0-9a-f]{12}\.[a-z0-9]+$`)

func get(t *testing.T, url string, header http.Header) *http.Response {
	t.Helper()
	return do(t, http.MethodGet, url, header)
}

func do(t *testing.T, method, url string, header http.Header) *http.Response {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, url, nil)
	maps.Copy(r.Header, header)
	w := httptest.NewRecorder()
	static.Handler().ServeHTTP(w, r)
	return w.Result()
}

func body(t *testing.T, r *http.Response) []byte {
	t.Helper()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatalf("read body: %v", err)
	}
	return b
}

func TestEveryFileIsServedForGood(t *testing.T) {
	t.Parallel()
	types := map[string]string{
		".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
		".txt": "text/plain; charset=utf-8", ".woff2": "font/woff2",
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := static.URL(name)
			if !hashed.MatchString(url) {
				t.Errorf("URL = %q, want one with a hash", url)
			}
			r := get(t, url, nil)
			if r.StatusCode != http.StatusOK || len(body(t, r)) == 0 {
				t.Errorf("GET %s: status %d, want 200 and a body", url, r.StatusCode)
			}
			if got, want := r.Header.Get("Content-Type"), types[path.Ext(name)]; got != want {
				t.Errorf("Content-Type = %q, want %q", got, want)
			}
			if got, want := r.Header.Get("Cache-Control"), "public, max-age=31536000, immutable"; got != want {
				t.Errorf("Cache-Control = %q, want %q", got, want)
			}
			if got := r.Header.Get("X-Content-Type-Options"); got != "nosniff" {
				t.Errorf("X-Content-Type-Options = %q, want nosniff", got)
			}
		})
	}
}

func TestNothingIsEmbeddedThatNobodyAsksFor(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, name := range names {
		known[name] = true
	}
	err := fs.WalkDir(os.DirFS("assets"), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !known[name] {
			t.Errorf("assets/%s is not in the list of names", name)
		}
		return err
	})
	if err != nil {
		t.Fatalf("walk assets: %v", err)
	}
}

func TestStyleSheetNamesFilesThatExist(t *testing.T) {
	t.Parallel()
	sheet := body(t, get(t, static.URL("app.css"), nil))
	found := regexp.MustCompile(`url\(([^)]*)\)`).FindAllSubmatch(sheet, -1)
	if len(found) < 4 {
		t.Errorf("%d files in the style sheet, want the four fonts", len(found))
	}
	for _, match := range found {
		url := string(match[1])
		if !hashed.MatchString(url) {
			t.Errorf("url(%s) has no hash", url)
		}
		if r := get(t, url, nil); r.StatusCode != http.StatusOK {
			t.Errorf("url(%s): status %d", url, r.StatusCode)
		}
	}
}

func TestTextIsCompressedForThoseWhoTakeIt(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"app.css", "app.js", "htmx.min.js", "icon.svg"} {
		url := static.URL(name)
		plain := body(t, get(t, url, nil))
		r := get(t, url, http.Header{"Accept-Encoding": {"br, gzip;q=0.8"}})
		if got := r.Header.Get("Content-Encoding"); got != "gzip" {
			t.Errorf("%s: Content-Encoding = %q, want gzip", name, got)
		}
		if got := r.Header.Get("Vary"); got != "Accept-Encoding" {
			t.Errorf("%s: Vary = %q, want Accept-Encoding", name, got)
		}
		z, err := gzip.NewReader(r.Body)
		if err != nil {
			t.Fatalf("%s: open gzip: %v", name, err)
		}
		unpacked, err := io.ReadAll(z)
		if err != nil || !bytes.Equal(unpacked, plain) {
			t.Errorf("%s: the compressed file is another one (%v)", name, err)
		}
	}
	for _, header := range []string{"", "identity", "br", "gzip;q=0", "gzip; q=0.0", "xgzip"} {
		r := get(t, static.URL("app.css"), http.Header{"Accept-Encoding": {header}})
		if got := r.Header.Get("Content-Encoding"); got != "" {
			t.Errorf("Accept-Encoding %q: Content-Encoding = %q, want none", header, got)
		}
		if got := r.Header.Get("Vary"); got != "Accept-Encoding" {
			t.Errorf("Accept-Encoding %q: Vary = %q, want Accept-Encoding", header, got)
		}
	}
	font := get(t, static.URL("fonts/geist.woff2"), http.Header{"Accept-Encoding": {"gzip"}})
	if got := font.Header.Get("Content-Encoding"); got != "" {
		t.Errorf("a font came with Content-Encoding %q", got)
	}
}

func TestOtherAddressesAreNotFound(t *testing.T) {
	t.Parallel()
	css := static.URL("app.css")
	for _, url := range []string{
		"/static/", "/static/app.css", "/static/assets/app.css", "/static/../static.go", "/static/app.000000000000.css",
		strings.Replace(css, "/static/", "/static//", 1), css + "/", "/", static.URL("missing.css"),
	} {
		r := get(t, url, nil)
		if r.StatusCode != http.StatusNotFound {
			t.Errorf("GET %s: status %d, want 404", url, r.StatusCode)
		}
		if got := r.Header.Get("Cache-Control"); strings.Contains(got, "immutable") {
			t.Errorf("GET %s: a 404 would be kept: %q", url, got)
		}
	}
}

func TestOnlyReadingIsAllowed(t *testing.T) {
	t.Parallel()
	url := static.URL("app.css")
	r := do(t, http.MethodPost, url, nil)
	if r.StatusCode != http.StatusMethodNotAllowed || r.Header.Get("Allow") != "GET, HEAD" {
		t.Errorf("POST: status %d, Allow %q", r.StatusCode, r.Header.Get("Allow"))
	}
	r = do(t, http.MethodHead, url, nil)
	if r.StatusCode != http.StatusOK || len(body(t, r)) != 0 || r.Header.Get("Content-Length") == "0" {
		t.Errorf("HEAD: status %d, Content-Length %q, want 200 without a body", r.StatusCode, r.Header.Get("Content-Length"))
	}
}

// What a first visit loads stays small: bytes on the wire.
func TestFilesStayWithinTheirBudget(t *testing.T) {
	t.Parallel()
	const kB = 1000
	for name, most := range map[string]int{"app.css": 16 * kB, "app.js": 5 * kB, "htmx.min.js": 15 * kB, "fonts/geist.woff2": 30 * kB} {
		r := get(t, static.URL(name), http.Header{"Accept-Encoding": {"gzip"}})
		if size := len(body(t, r)); size > most {
			t.Errorf("%s has %d bytes, want at most %d", name, size, most)
		}
	}
}
