package e2e

import (
	"crypto/rand"
	"encoding/base64"
	"net/http"
	"os"
	"slices"
	"testing"
	"time"
)

// node is a process that serves, on an address that it keeps when it is
// started again.
type node struct {
	*program

	t       testing.TB
	environ []string
	url     string
}

// settings are what all nodes of a test share, NAME=value.
func settings(t testing.TB, more ...string) []string {
	t.Helper()
	return append([]string{
		"PATH=" + os.Getenv("PATH"),
		"HOME=" + t.TempDir(),
		"ROWLOCK_ALLOW_NETWORKS=127.0.0.0/8",
		"ROWLOCK_RETRY_SCHEDULE=1s,1s,1s,1s,1s,1s,1s",
		"ROWLOCK_DRAIN_PAUSE=0",        // no balancer has to notice
		"ROWLOCK_DELIVERY_TIMEOUT=60s", // a slow machine is no fault of the receiver
	}, more...)
}

// onDatabase are the settings for a database that the test runs.
func onDatabase(t testing.TB, d database) []string {
	t.Helper()
	return settings(t, "ROWLOCK_DATABASE_URL="+d.url(), "ROWLOCK_MASTER_KEY="+masterKey())
}

// masterKey makes one.
func masterKey() string {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // it never fails
	return base64.StdEncoding.EncodeToString(key)
}

// startNode starts a node on an address of its own, and returns when it is
// ready.
func startNode(t testing.TB, environ []string) *node {
	t.Helper()
	url, addresses := ownAddresses(t)
	n := &node{t: t, url: url, environ: slices.Concat(environ, addresses)}
	n.boot()
	return n
}

// ownAddresses are settings for a server on addresses that nobody else has.
func ownAddresses(t testing.TB) (url string, environ []string) {
	t.Helper()
	var ports [2]int
	for i := range ports {
		port, err := freePort()
		if err != nil {
			t.Fatal(err)
		}
		ports[i] = port
	}
	url = "http://" + loopback(ports[0])
	return url, []string{"ROWLOCK_LISTEN=" + loopback(ports[0]), "ROWLOCK_METRICS_LISTEN=" + loopback(ports[1]), "ROWLOCK_BASE_URL=" + url}
}

// boot starts the process and returns when it is ready.
func (n *node) boot() {
	n.t.Helper()
	n.program = start(n.t, n.environ, "serve")
	n.untilReady()
}

// untilReady waits for /readyz to answer 200.
func (n *node) untilReady() {
	n.t.Helper()
	waitFor(n.t, patience, "the server is ready", func() bool {
		if !n.running() {
			n.t.Fatalf("the server has ended, exit code %d", n.exitCode())
		}
		status, err := n.ready()
		return err == nil && status == http.StatusOK
	})
}

// ready is what /readyz answers now, on a connection of its own.
func (n *node) ready() (status int, err error) {
	client := http.Client{Timeout: answerLimit, Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Get(n.url + "/readyz")
	if err != nil {
		return 0, err
	}
	return answer.StatusCode, answer.Body.Close()
}

// newestNode is what a node calls itself in the database: the newest there,
// directly after its start.
func newestNode(t testing.TB, d database) string {
	t.Helper()
	type row struct{ Name string }
	found := query[row](t, d.url(), `SELECT node FROM nodes ORDER BY started_at DESC LIMIT 1`)
	if len(found) == 0 {
		t.Fatal("the database knows no node")
	}
	return found[0].Name
}

// run runs another command of the program to its end and returns what it
// printed to standard output.
func run(t testing.TB, environ []string, args ...string) []byte {
	t.Helper()
	out, err := command(t, environ, args...)
	if err != nil {
		t.Fatalf("rowlock %v: %v", args, err)
	}
	return out
}

// wantExit waits for the node's end in order.
func (n *node) wantExit(limit time.Duration) {
	n.t.Helper()
	waitFor(n.t, limit, "the server has ended", func() bool { return !n.running() })
	if code := n.exitCode(); code != 0 {
		n.t.Errorf("the server ended with exit code %d, want 0", code)
	}
}
