package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// An endpoint with an address is somebody's receiver: who asks to listen for it by
// mistake is refused, and changes nothing of it.
func TestListenLeavesReceiversAlone(t *testing.T) {
	t.Parallel()
	answer := func(w http.ResponseWriter, status int, body map[string]string) {
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(body)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodPost && r.URL.Path == "/api/v1/endpoints":
			answer(w, http.StatusConflict, map[string]string{"code": "uid_taken"})
		case r.Method == http.MethodGet:
			answer(w, http.StatusOK, map[string]string{"id": "ep_1", "uid": "erp", "kind": "http"})
		case r.Method == http.MethodPatch:
			t.Error("it is changed")
			answer(w, http.StatusOK, map[string]string{})
		default:
			answer(w, http.StatusConflict, map[string]string{"code": "endpoint_has_address", "detail": "It is sent to at its URL."})
		}
	}))
	t.Cleanup(server.Close)
	for _, endpoint := range []string{"erp", "ep_1"} {
		got := call(t, "", []string{"ROWLOCK_SERVER=" + server.URL, "ROWLOCK_API_KEY=rk_test"},
			"listen", "--forward-to", "http://127.0.0.1:3000/", "--endpoint", endpoint, "--types", "order.*")
		if got.code == 0 || !strings.Contains(got.stderr, "sent to at its URL") || !strings.Contains(got.stderr, "--endpoint") {
			t.Errorf("%s: exit code %d, %q", endpoint, got.code, got.stderr)
		}
	}
}
