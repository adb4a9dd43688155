package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rowlock/rowlock/internal/bench/load"
)

// reported is a report whose every figure is x.
func reported(x float64) load.Report {
	rates := []load.Rate{{Connections: 1, PerSecond: x}, {Connections: 16, PerSecond: x}, {Connections: 64, PerSecond: x, Latency: load.Latency{P99: x}}}
	flow := load.Flow{Endpoints: 1, BodySize: 1024, PerSecond: x, Cost: load.Cost{ServerCPU: x, Memory: int64(x) << 20, Top: []load.Statement{{Text: "SELECT `a|b`", Calls: x, Millis: x}}}}
	return load.Report{
		Machine: load.Machine{CPUs: 2, Database: map[string]string{"fsync": "on"}},
		Floor:   load.Floor{Echo: rates, Commit: rates, Group: rates}, Accept: rates, OneEndpoint: flow, FanOut: flow,
	}
}

func TestTheMedianIsTold(t *testing.T) {
	t.Parallel()
	first := reported(9)
	first.Endpoints = []load.Flow{first.OneEndpoint}
	all := []load.Report{first, reported(1), reported(3)}
	m, err := median(all)
	if err != nil {
		t.Fatal(err)
	}
	if m.Accept[2].PerSecond != 3 || m.FanOut.Cost.ServerCPU != 3 || m.Machine.Database["fsync"] != "on" || m.Endpoints[0].PerSecond != 9 {
		t.Errorf("median %+v", m)
	}
	if m, err = median(all[1:]); err != nil || m.Steady.P50 != 0 || m.OneEndpoint.PerSecond != 2 {
		t.Errorf("median of two: %+v, %v", m, err)
	}
}

// A statement's figures are its own, wherever it stands among the others of a run.
func TestTheMedianOfAStatement(t *testing.T) {
	t.Parallel()
	run := func(top ...load.Statement) load.Report {
		return load.Report{OneEndpoint: load.Flow{Cost: load.Cost{Top: top}}}
	}
	m, err := median([]load.Report{
		run(load.Statement{Text: "a", Calls: 1, Millis: 30}, load.Statement{Text: "b", Calls: 2, Millis: 20}),
		run(load.Statement{Text: "b", Calls: 2, Millis: 26}, load.Statement{Text: "a", Calls: 1, Millis: 24}),
		run(load.Statement{Text: "b", Calls: 2, Millis: 29}, load.Statement{Text: "c", Calls: 9, Millis: 28}, load.Statement{Text: "a", Calls: 1, Millis: 27}),
	})
	want := []load.Statement{{Text: "a", Calls: 1, Millis: 27}, {Text: "b", Calls: 2, Millis: 26}}
	if err != nil || !slices.Equal(m.OneEndpoint.Cost.Top, want) {
		t.Errorf("median %+v, %v, want %+v", m.OneEndpoint.Cost.Top, err, want)
	}
}

func TestResultsAreWritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := reported(5000)
	first.Endpoints, first.Sizes = []load.Flow{first.OneEndpoint}, []load.Flow{first.FanOut}
	if err := write(dir, []load.Report{first, reported(4000), reported(6000)}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "RESULTS.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| accepted events/s, 64 connections | **5,000** | 5,000 · 4,000 · 6,000 | ≥ 5,000 | reached | 1.00 |",
		"| CPU s per 10,000 delivered, fan-out | **5,000** |", "fsync on", "`SELECT 'a\\|b'`", "## Run 3, as printed", "(cost.svg)",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
	for _, name := range []string{"accept.svg", "deliver.svg", "cost.svg"} {
		f, err := os.Open(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		for decoder := xml.NewDecoder(f); err == nil; {
			_, err = decoder.Token()
		}
		if !errors.Is(err, io.EOF) {
			t.Errorf("%s is not XML: %v", name, err)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestFiguresAreRead(t *testing.T) {
	t.Parallel()
	for x, want := range map[float64]string{0: "0.00", 1.234: "1.23", 12.34: "12.3", 999: "999", 1234: "1,234", 1234567: "1,234,567"} {
		if got := figure(x); got != want {
			t.Errorf("%v is written %q, want %q", x, got, want)
		}
	}
}
