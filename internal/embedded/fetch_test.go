package embedded

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rowlock/rowlock/internal/embedded/pgchild"
)

// archive is what the repository has: programs in a tar.xz in a zip.
func archive(t *testing.T) []byte {
	t.Helper()
	programs, err := os.ReadFile(filepath.Join("testdata", "programs.txz"))
	if err != nil {
		t.Fatalf("read: %v", err)
	}
	var jar bytes.Buffer
	w := zip.NewWriter(&jar)
	f, err := w.Create("postgres.txz")
	if err != nil {
		t.Fatalf("zip: %v", err)
	}
	if _, err := f.Write(programs); err != nil {
		t.Fatalf("zip: %v", err)
	}
	if err := w.Close(); err != nil {
		t.Fatalf("zip: %v", err)
	}
	return jar.Bytes()
}

// serve runs a repository that answers every request for an archive with jar,
// and every one for a checksum with sum.
func serve(t *testing.T, jar []byte, sum string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, ".sha256") {
			_, _ = w.Write([]byte(sum))
			return
		}
		_, _ = w.Write(jar)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// nowhere is a repository that nobody serves.
func nowhere(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.NotFoundHandler())
	s.Close()
	return s.URL
}

func TestFetch(t *testing.T) {
	t.Parallel()
	jar := archive(t)
	sum := sha256.Sum256(jar)
	right := hex.EncodeToString(sum[:])
	tests := map[string]struct {
		from string
		want string // in the error; none for success
	}{
		"archive and checksum": {serve(t, jar, right), ""},
		"other checksum":       {serve(t, jar, strings.Repeat("0", len(right))), "checksum"},
		"no archive":           {serve(t, []byte("<html>"), right), "fetch PostgreSQL"},
		"no network":           {nowhere(t), "unable to connect"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "binaries", "17.5.0")
			err := fetch(t.Context(), test.from, fetchable[17], dir)
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Fatalf("fetch() = %v, want %q", err, test.want)
			}
			install, inspectErr := pgchild.Inspect(t.Context(), filepath.Join(dir, "bin"))
			if (inspectErr == nil) != (err == nil) || err == nil && install.Major != 17 {
				t.Errorf("fetched version %d, %v", install.Major, inspectErr)
			}
			if left := listing(t, filepath.Dir(dir)); strings.Contains(left, "new-") {
				t.Errorf("left behind:\n%s", left)
			}
		})
	}
}

func TestFetchedProgramsAreKept(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	l, err := newLayout(dir)
	if err != nil {
		t.Fatalf("newLayout() = %v", err)
	}
	user, err := pgchild.Choose(l.cluster)
	if err != nil {
		t.Fatalf("Choose() = %v", err)
	}
	jar := archive(t)
	sum := sha256.Sum256(jar)
	s := &Server{layout: l, log: slog.New(slog.DiscardHandler), repository: serve(t, jar, hex.EncodeToString(sum[:]))}
	first, err := s.fetched(t.Context(), user, 17)
	if err != nil {
		t.Fatalf("fetched() = %v", err)
	}
	s.repository = nowhere(t)
	if again, err := s.fetched(t.Context(), user, 17); err != nil || again != first {
		t.Errorf("fetched() again = %v, %v, want %v from the cache", again, err, first)
	}
	if _, err := s.fetched(t.Context(), user, 12); err == nil {
		t.Error("fetched() offers a version that Rowlock cannot run on")
	}
}

func TestFetchGivenUp(t *testing.T) {
	t.Parallel()
	asked, end := make(chan struct{}), make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		close(asked)
		<-end
	}))
	defer s.Close()
	defer close(end)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-asked; cancel() }()
	err := fetch(ctx, s.URL, fetchable[17], filepath.Join(t.TempDir(), "binaries", "17.5.0"))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("fetch() = %v, want the context's end", err)
	}
}

func TestVersionError(t *testing.T) {
	t.Parallel()
	installed := []pgchild.Install{{Bin: "/usr/lib/postgresql/15/bin", Major: 15}}
	tests := map[string]struct {
		err  VersionError
		want []string
	}{
		"newer": {
			VersionError{"/d/postgres", 16, installed, errors.New("no network")},
			[]string{"/d/postgres", "15 in /usr/lib/postgresql/15/bin", "no network", "install PostgreSQL 16", "nothing was changed"},
		},
		"too old": {
			VersionError{"/d/postgres", 14, installed, errors.New("no")},
			[]string{"Rowlock needs version 15", "pg_upgrade", "nothing was changed"},
		},
		"nothing found": {VersionError{"/d/postgres", 17, nil, errors.New("no")}, []string{"found: none", "install PostgreSQL 17"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, want := range test.want {
				if !strings.Contains(test.err.Error(), want) {
					t.Errorf("Error() = %q, want a word on %q", test.err.Error(), want)
				}
			}
		})
	}
}
