package load_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/rowlock/rowlock/internal/bench/load"
	"github.com/rowlock/rowlock/internal/bench/served"
	"github.com/rowlock/rowlock/internal/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// small measures everything, little of each.
func small(t *testing.T) load.Options {
	t.Helper()
	url := pgtest.Empty(t)
	server, key := served.ForTest(t, url, "bench")
	return load.Options{
		Server: server.URL, Key: key, Metrics: []string{server.Metrics}, Database: url,
		Events: 100, BodySize: 300, Connections: []int{1, 4}, Steady: 200 * time.Millisecond,
	}
}

func TestAServerIsMeasured(t *testing.T) {
	t.Parallel()
	o := small(t)
	r, err := load.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string]float64{
		"echo": r.Floor.Echo[1].PerSecond, "commits": r.Floor.Commit[1].PerSecond, "groups": r.Floor.Group[1].PerSecond,
		"accepting": r.Accept[1].PerSecond, "one endpoint": r.OneEndpoint.PerSecond, "fan-out": r.FanOut.PerSecond,
		"latency": r.OneEndpoint.Latency.P99, "steady": r.Steady.P50, "beside a slow endpoint": r.BesideSlow.P50,
		"server's time": r.FanOut.Cost.ServerCPU, "memory": float64(r.FanOut.Cost.Memory), "WAL": r.OneEndpoint.Cost.WAL,
	} {
		if got <= 0 {
			t.Errorf("%s: %v", name, got)
		}
	}
	if r.OneEndpoint.Endpoints != 1 || r.FanOut.Endpoints != 10 || r.OneEndpoint.Altered != 0 || r.Machine.Database["fsync"] == "" {
		t.Errorf("report %+v", r)
	}
	var text bytes.Buffer
	if err := r.Print(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"HTTP alone", "committed together", "deliveries/s", "CPU s/10,000", "beside a slow endpoint"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in:\n%s", want, text.String())
		}
	}
	if raw, err := json.Marshal(r); err != nil || !bytes.Contains(raw, []byte(`"one_endpoint"`)) {
		t.Errorf("%s, %v", raw, err)
	}
}

func TestOptionsAreRefused(t *testing.T) {
	t.Parallel()
	good := load.Options{Server: "http://127.0.0.1:1", Key: "rk_x", Events: 1, BodySize: 1000, Connections: []int{1}, Steady: time.Second}
	for name, spoil := range map[string]func(*load.Options){
		"no events":            func(o *load.Options) { o.Events = 0 },
		"a body that is small": func(o *load.Options) { o.BodySize = 10 },
		"no connections":       func(o *load.Options) { o.Connections = nil },
		"too many of them":     func(o *load.Options) { o.Connections = []int{100_000} },
		"no time":              func(o *load.Options) { o.Steady = 0 },
	} {
		o := good
		spoil(&o)
		_, err := load.Run(context.Background(), o)
		if _, ok := errors.AsType[*load.OptionError](err); !ok {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := load.Run(t.Context(), good); err == nil {
		t.Error("a server that is not there was measured")
	}
}
