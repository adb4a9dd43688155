package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"testing"
	"time"
)

// caller calls the API for the test itself.
var caller = &http.Client{Timeout: time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: 8}}

// account is a tenant and its key. Its calls go to one node.
type account struct {
	node *node
	ID   string `json:"account_id"`
	Key  string `json:"api_key"`
}

// newAccount makes an account as an operator does.
func newAccount(t testing.TB, n *node) *account {
	t.Helper()
	a := &account{node: n}
	out := run(t, n.environ, "account", "create", "--name", "Acme", "--email", "owner@example.com", "--json")
	if err := json.Unmarshal(out, a); err != nil {
		t.Fatalf("account create printed %q: %v", out, err)
	}
	return a
}

// command runs a command of the program to its end; the error carries what it
// wrote to standard error.
func command(t testing.TB, environ []string, args ...string) ([]byte, error) {
	t.Helper()
	var stderr bytes.Buffer
	cmd := exec.CommandContext(t.Context(), binary, args...)
	cmd.Env, cmd.Stderr, cmd.SysProcAttr = environ, &stderr, childAttributes()
	out, err := cmd.Output()
	if err != nil {
		return out, fmt.Errorf("%w: %s", err, stderr.String())
	}
	return out, nil
}

// call sends a request and returns the answer's status and body.
func (a *account) call(t testing.TB, method, path string, body []byte) (int, []byte) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, a.node.url+"/api/v1"+path, bytes.NewReader(body))
	if err != nil {
		t.Fatalf("make a request: %v", err)
	}
	request.Header.Set("Authorization", "Bearer "+a.Key)
	request.Header.Set("Content-Type", "application/json")
	return exchange(t, request)
}

// exchange sends a request that must be answered.
func exchange(t testing.TB, request *http.Request) (int, []byte) {
	t.Helper()
	answer, err := caller.Do(request)
	if err != nil {
		t.Fatalf("%s %s: %v", request.Method, request.URL, err)
	}
	defer answer.Body.Close() //nolint:errcheck // it was read
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatalf("%s %s: %v", request.Method, request.URL, err)
	}
	return answer.StatusCode, body
}

// want sends a request that must be answered with a status, and decodes the
// answer.
func want[V any](t testing.TB, a *account, status int, method, path, body string) (v V) {
	t.Helper()
	got, answer := a.call(t, method, path, []byte(body))
	if got != status {
		t.Fatalf("%s %s: %d %s, want %d", method, path, got, answer, status)
	}
	if err := json.Unmarshal(answer, &v); err != nil {
		t.Fatalf("%s %s: %v in %s", method, path, err, answer)
	}
	return v
}

// pageSize is the most that a list gives at once.
const pageSize = 250

// list reads all of a list. query follows the path's question mark.
func list[V any](t testing.TB, a *account, path, query string) (all []V) {
	t.Helper()
	type page struct {
		Data []V     `json:"data"`
		Next *string `json:"next_cursor"`
	}
	cursor := ""
	for {
		p := want[page](t, a, http.StatusOK, http.MethodGet, fmt.Sprintf("%s?limit=%d&cursor=%s&%s", path, pageSize, cursor, query), "")
		all = append(all, p.Data...)
		if p.Next == nil {
			return all
		}
		cursor = *p.Next
	}
}

// none tells whether a list is empty.
func none(t testing.TB, a *account, path, query string) bool {
	t.Helper()
	type page struct {
		Data []json.RawMessage `json:"data"`
	}
	return len(want[page](t, a, http.StatusOK, http.MethodGet, path+"?limit=1&"+query, "").Data) == 0
}

// What tests read of the API's objects.
type (
	eventObject struct {
		ID string `json:"id"`
	}
	endpointObject struct {
		ID string `json:"id"`
	}
	sourceObject struct {
		ID        string `json:"id"`
		IngestURL string `json:"ingest_url"`
	}
	deliveryObject struct {
		ID       string          `json:"id"`
		EventID  string          `json:"event_id"`
		Status   string          `json:"status"`
		Count    int             `json:"attempt_count"`
		Attempts []attemptObject `json:"attempts"`
	}
	statsObject struct {
		Succeeded   int `json:"succeeded"`
		Rejected    int `json:"rejected"`
		Unreachable int `json:"unreachable"`
		Unknown     int `json:"unknown"`
	}
	attemptObject struct {
		Number  int    `json:"number"`
		Outcome string `json:"outcome"`
	}
)
