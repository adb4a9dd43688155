package app

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"github.com/rowlock/rowlock/internal/pgtest"
	"github.com/rowlock/rowlock/internal/store"
)

// The console answers under its path with its own files, and runs nothing in
// the background.
func TestJobConsole(t *testing.T) {
	t.Parallel()
	pool, err := store.Connect(t.Context(), pgtest.URL(t), 2)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	if err := pool.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	queue, err := river.NewClient(riverpgxv5.New(pool), &river.Config{})
	if err != nil {
		t.Fatal(err)
	}
	console, err := jobConsole(queue, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	get := func(path string) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
		r.Header.Set("Accept", "text/html,*/*")
		w := httptest.NewRecorder()
		console.ServeHTTP(w, r)
		return w
	}
	index := get(consolePath + "/")
	if index.Code != http.StatusOK || !strings.Contains(index.Body.String(), consolePath+"/assets/") {
		t.Fatalf("%d %.300s", index.Code, index.Body)
	}
	_, rest, _ := strings.Cut(index.Body.String(), `<script type="module" src="`)
	script, _, _ := strings.Cut(rest, `"`)
	if got := get(script); got.Code != http.StatusOK || !strings.Contains(got.Header().Get("Content-Type"), "javascript") {
		t.Errorf("%s: %d %s", script, got.Code, got.Header())
	}
	if got := get(consolePath + "/api/states"); got.Code != http.StatusOK || !strings.Contains(got.Body.String(), `"available"`) {
		t.Errorf("states: %d %s", got.Code, got.Body)
	}
	stacks := make([]byte, 4<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	if strings.Contains(string(stacks), "riverqueue.com/riverui") {
		t.Errorf("something of the console runs in the background:\n%s", stacks)
	}
}
