package receiver

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// running is a receiver on a free port.
type running struct {
	url   string
	lines *bufio.Scanner
	stop  context.CancelFunc
	ended chan error
}

func start(t *testing.T, o Options) *running {
	t.Helper()
	in, out := io.Pipe()
	o.Listen, o.Out = "127.0.0.1:0", out
	r, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	run := &running{lines: bufio.NewScanner(in), stop: cancel, ended: make(chan error, 1)}
	t.Cleanup(func() { cancel(); _ = in.Close() })
	go func() {
		run.ended <- r.Run(ctx)
		_ = out.Close()
	}()
	run.url = strings.TrimPrefix(run.next(t), "receiver at ")
	return run
}

// next waits for the next line.
func (r *running) next(t *testing.T) string {
	t.Helper()
	if !r.lines.Scan() {
		t.Fatalf("no more lines: %v", r.lines.Err())
	}
	return r.lines.Text()
}

func get(ctx context.Context, url string) (int, error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return 0, err
	}
	c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := c.Do(q)
	if err != nil {
		return 0, err
	}
	return resp.StatusCode, resp.Body.Close()
}

func TestRunServesUntilStopped(t *testing.T) {
	t.Parallel()
	r := start(t, Options{Status: 202})
	got := make(chan int, 1)
	go func() {
		status, _ := get(t.Context(), r.url+"hook")
		got <- status
	}()
	if line := r.next(t); !strings.Contains(line, " GET /hook ") {
		t.Errorf("printed %q", line)
	}
	if status := <-got; status != 202 {
		t.Errorf("answered %d", status)
	}
	r.stop()
	if line := r.next(t); line != "requests 1: succeeded 1, failed 0, refused 0, abandoned 0" {
		t.Errorf("ended with %q", line)
	}
	if err := <-r.ended; err != nil {
		t.Errorf("Run: %v", err)
	}
}

func TestStoppingDoesNotWaitForDelays(t *testing.T) {
	t.Parallel()
	r := start(t, Options{Delay: time.Hour})
	connection, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimSuffix(strings.TrimPrefix(r.url, "http://"), "/"))
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close() //nolint:errcheck // the answer was read
	// 100 Continue is sent when the handler reads the body: then it is in there.
	if _, err := io.WriteString(connection, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(connection).ReadString('\n'); err != nil || !strings.HasPrefix(line, "HTTP/1.1 100") {
		t.Fatalf("got %q, %v", line, err)
	}
	if _, err := io.WriteString(connection, "{}"); err != nil {
		t.Fatal(err)
	}
	r.stop()
	if line := r.next(t); !strings.Contains(line, "answer=none") {
		t.Errorf("printed %q", line)
	}
	if line := r.next(t); !strings.HasPrefix(line, "requests 1: succeeded 0, failed 0, refused 0, abandoned 1") {
		t.Errorf("ended with %q", line)
	}
	if err := <-r.ended; err != nil {
		t.Errorf("Run: %v", err)
	}
}

func TestRunSaysWhyItCannotListen(t *testing.T) {
	t.Parallel()
	taken, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close() //nolint:errcheck // nothing to lose
	r, err := New(Options{Listen: taken.Addr().String(), Out: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "address already in use") {
		t.Errorf("got %v", err)
	}
}

func TestAddressIsOneToUse(t *testing.T) {
	t.Parallel()
	for listen, want := range map[string]string{
		"127.0.0.1:9000": "http://127.0.0.1:9000/",
		"0.0.0.0:9000":   "http://localhost:9000/",
		"[::]:9000":      "http://localhost:9000/",
		"[::1]:9000":     "http://[::1]:9000/",
	} {
		a, err := net.ResolveTCPAddr("tcp", listen)
		if err != nil {
			t.Fatal(err)
		}
		if got := address(a); got != want {
			t.Errorf("address(%s) = %s, want %s", listen, got, want)
		}
	}
}
