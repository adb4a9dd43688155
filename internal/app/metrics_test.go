package app_test

import (
	"context"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rowlock/rowlock/internal/app"
	"github.com/rowlock/rowlock/internal/pgtest"
)

// process is the whole product, running inside of the test.
type process struct {
	t       *testing.T
	client  *http.Client
	url     string
	metrics string
	key     string
	// stop ends it, and waits for that.
	stop func()
}

var everyRole = app.Roles{Web: true, API: true, Ingest: true, Worker: true}

// serveAs runs the product on a database, as the program does, until the test ends.
func serveAs(t *testing.T, roles app.Roles, database string, more ...string) *process {
	t.Helper()
	p := &process{t: t, url: "http://" + freeAddress(t), metrics: "http://" + freeAddress(t)}
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	p.client = &http.Client{Transport: transport, Timeout: time.Minute}
	c := settings(t, database, append([]string{
		"ROWLOCK_LISTEN=" + strings.TrimPrefix(p.url, "http://"), "ROWLOCK_METRICS_LISTEN=" + strings.TrimPrefix(p.metrics, "http://"),
		"ROWLOCK_BASE_URL=" + p.url, "ROWLOCK_ALLOW_NETWORKS=127.0.0.0/8",
	}, more...)...)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() {
		ended <- app.Serve(ctx, app.ServeOptions{Config: c, Roles: roles, Log: quiet, Version: "test", Stdout: io.Discard})
	}()
	stopped := false
	p.stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("it ended with %v", err)
		}
	}
	t.Cleanup(p.stop)
	pgtest.Until(t, "ready", func() bool {
		status, _ := p.get(p.url + "/readyz")
		return status == http.StatusOK
	})
	return p
}

// freeAddress finds an address that nobody listens on.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return address
}

// get asks for something; status is zero when nothing answers.
func (p *process) get(url string) (status int, text string) {
	p.t.Helper()
	return p.send(http.MethodGet, url, "")
}

func (p *process) send(method, url, body string, headers ...string) (status int, text string) {
	p.t.Helper()
	r, err := http.NewRequestWithContext(p.t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	if p.key != "" {
		r.Header.Set("Authorization", "Bearer "+p.key)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	answer, err := p.client.Do(r)
	if err != nil {
		return 0, err.Error()
	}
	got, err := io.ReadAll(answer.Body)
	if err := errors.Join(err, answer.Body.Close()); err != nil {
		p.t.Fatal(err)
	}
	return answer.StatusCode, string(got)
}

// call asks the API for something that must succeed.
func (p *process) call(method, path, body string, headers ...string) string {
	p.t.Helper()
	status, text := p.send(method, p.url+"/api/v1"+path, body, headers...)
	if status >= http.StatusBadRequest || status == 0 {
		p.t.Fatalf("%s %s: %d %s", method, path, status, text)
	}
	return text
}

// signUp makes an account, whose key the process is asked with from then on.
func (p *process) signUp(database string) {
	p.t.Helper()
	made, err := app.CreateAccount(p.t.Context(), settings(p.t, database), quiet, app.NewAccount{Name: "Acme", Email: "owner@example.com"})
	if err != nil {
		p.t.Fatal(err)
	}
	p.key = made.APIKey
}

// receiver is a far side that hands on what it is sent.
func receiver(t *testing.T) (url string, got <-chan http.Header) {
	t.Helper()
	received := make(chan http.Header, 100)
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { received <- r.Header })}
	done := make(chan struct{})
	go func() { defer close(done); _ = server.Serve(l) }()
	t.Cleanup(func() { _ = server.Close(); <-done })
	return "http://" + l.Addr().String(), received
}

// family is a metric as it is shown.
type family struct {
	kind string
	// labels has every value that each label was seen with.
	labels map[string]map[string]bool
}

var (
	typeLine   = regexp.MustCompile(`^# TYPE (\S+) (\S+)$`)
	sampleLine = regexp.MustCompile(`^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? \S+$`)
	labelPair  = regexp.MustCompile(`([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"`)
)

// scrape reads what the process shows to Prometheus.
func (p *process) scrape() map[string]family {
	p.t.Helper()
	status, text := p.get(p.metrics + "/metrics")
	if status != http.StatusOK {
		p.t.Fatalf("metrics: %d %s", status, text)
	}
	all := map[string]family{}
	last := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if found := typeLine.FindStringSubmatch(line); found != nil {
			last = found[1]
			all[last] = family{kind: found[2], labels: map[string]map[string]bool{}}
			continue
		}
		found := sampleLine.FindStringSubmatch(line)
		if found == nil {
			continue
		}
		if !strings.HasPrefix(found[1], last) {
			p.t.Fatalf("%s stands below %s", line, last)
		}
		for _, pair := range labelPair.FindAllStringSubmatch(found[2], -1) {
			if all[last].labels[pair[1]] == nil {
				all[last].labels[pair[1]] = map[string]bool{}
			}
			all[last].labels[pair[1]][pair[2]] = true
		}
	}
	return all
}

// working is a process that has taken an event in and sent it, and refused another.
func working(t *testing.T, more ...string) *process {
	t.Helper()
	database := pgtest.URL(t)
	p := serveAs(t, everyRole, database, more...)
	p.signUp(database)
	url, got := receiver(t)
	p.call(http.MethodPost, "/endpoints", `{"url":"`+url+`"}`)
	p.send(http.MethodPost, p.url+"/api/v1/events", `{"type":1}`)
	p.call(http.MethodPost, "/events", `{"type":"a.b","data":1}`)
	<-got
	return p
}

// documented are the rows of the table of metrics: name, labels.
var documented = regexp.MustCompile("(?m)^\\| `(rowlock_[a-z_]+)` \\|([^|]*)\\|([^|]*)\\|")

// Every number is told of, with its labels, and none is told of that is not there.
func TestMetricsAreDocumented(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../web/docs/operating.md")
	if err != nil {
		t.Fatal(err)
	}
	told := map[string]string{}
	for _, row := range documented.FindAllStringSubmatch(string(page), -1) {
		told[row[1]] = strings.TrimSpace(strings.ReplaceAll(row[3], "`", ""))
	}
	shown := map[string]string{}
	for name, f := range working(t).scrape() {
		if strings.HasPrefix(name, "rowlock_") {
			shown[name] = strings.Join(slices.DeleteFunc(slices.Sorted(maps.Keys(f.labels)), func(label string) bool { return label == "le" }), ", ")
		}
	}
	if diff := cmp.Diff(shown, told); diff != "" {
		t.Errorf("what is shown, and what the documentation tells of, with labels (-shown +told):\n%s", diff)
	}
}

// What happens is counted, all the way from the request to the receiver's answer.
func TestMetricsOfAnEventsWay(t *testing.T) {
	t.Parallel()
	p := working(t)
	p.send(http.MethodPost, p.url+"/api/v1/events/batch", `{"events":[{"type":"a.b"}]}`)
	p.send(http.MethodPost, p.url+"/ingest/in_nobody", `{}`)
	var missing []string
	defer func() {
		for _, line := range missing {
			t.Errorf("no %s", line)
		}
	}()
	pgtest.Until(t, "counted", func() bool {
		_, text := p.get(p.metrics + "/metrics")
		missing = nil
		for _, want := range []string{
			`rowlock_events_accepted_total{duplicate="false",via="api"} 1`,
			`rowlock_events_refused_total{cause="invalid",via="api"} 2`,
			`rowlock_events_refused_total{cause="not_found",via="ingest"} 1`,
			`rowlock_accept_duration_seconds_count{result="refused",via="ingest"} 1`,
			`rowlock_events_decided_total{status="processed"} 1`,
			`rowlock_decide_latency_seconds_count 1`,
			`rowlock_deliver_latency_seconds_count 1`,
			`rowlock_attempts_total{error_kind="",outcome="succeeded"} 1`,
			`rowlock_commit_rows_count{work="record"} 1`,
			`rowlock_sends_max 256`,
			`rowlock_database_up 1`,
			`rowlock_partition_days_ahead 30`,
		} {
			if !strings.Contains(text, "\n"+want+"\n") {
				missing = append(missing, want)
			}
		}
		return len(missing) == 0
	})
}
