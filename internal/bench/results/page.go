package main

import (
	_ "embed" // what numbers do not say
	"fmt"
	"strings"

	"github.com/rowlock/rowlock/internal/bench/load"
)

// notes say where the time goes, in words.
//
//go:embed notes.md
var notes string

// target is a figure that was to be reached.
type target struct {
	name   string
	want   float64
	atMost bool
	got    func(load.Report) float64
	// floor is what the figure is a ratio of; nil where there is none.
	floor func(load.Report) float64
}

// The targets, each of the median of all runs.
var targets = []target{
	{"accepted events/s, 1 connection", 400, false, func(r load.Report) float64 { return r.Accept[0].PerSecond }, group(0)},
	{"accepted events/s, 16 connections", 2500, false, func(r load.Report) float64 { return r.Accept[1].PerSecond }, group(1)},
	{"accepted events/s, 64 connections", 5000, false, func(r load.Report) float64 { return r.Accept[2].PerSecond }, group(2)},
	{"accept p99 at 64, ms", 40, true, func(r load.Report) float64 { return r.Accept[2].P99 }, func(r load.Report) float64 { return r.Floor.Group[2].P99 }},
	{"end to end, 1 endpoint, deliveries/s", 2500, false, func(r load.Report) float64 { return r.OneEndpoint.PerSecond }, load.Report.Echo},
	{"at 100 events/s, p50 ms", 8, true, func(r load.Report) float64 { return r.Steady.P50 }, nil},
	{"at 100 events/s, p99 ms", 40, true, func(r load.Report) float64 { return r.Steady.P99 }, nil},
	{"fan-out to 10 endpoints, deliveries/s", 5000, false, func(r load.Report) float64 { return r.FanOut.PerSecond }, load.Report.Echo},
	{"CPU s per 10,000 delivered, 1 endpoint", 6, true, func(r load.Report) float64 { return r.OneEndpoint.Cost.CPU() }, nil},
	{"CPU s per 10,000 delivered, fan-out", 3, true, func(r load.Report) float64 { return r.FanOut.Cost.CPU() }, nil},
	{"server's memory under that load, MiB", 100, true, func(r load.Report) float64 {
		return float64(max(r.OneEndpoint.Cost.Memory, r.FanOut.Cost.Memory)) / (1 << 20)
	}, nil},
}

func group(n int) func(load.Report) float64 {
	return func(r load.Report) float64 { return r.Floor.Group[n].PerSecond }
}

// page is RESULTS.md.
func page(m load.Report, reports []load.Report) string {
	var s strings.Builder
	s.WriteString("# What was measured\n\nWritten by `make bench`; do not edit. What follows from it is in `internal/bench/results/notes.md`.\n\n")
	writeMachine(&s, m, len(reports))
	writeTargets(&s, m, reports)
	s.WriteString("\n![Accepting](accept.svg)\n\n![Delivering](deliver.svg)\n")
	if len(m.Endpoints) > 0 {
		s.WriteString("\n![What it costs](cost.svg)\n")
	}
	s.WriteString("\n" + strings.TrimSpace(notes) + "\n")
	writeStatements(&s, m)
	for n, r := range reports {
		fmt.Fprintf(&s, "\n## Run %d, as printed\n\n```\n", n+1)
		_ = r.Print(&s) // a strings.Builder takes everything
		s.WriteString("```\n")
	}
	return s.String()
}

func writeMachine(s *strings.Builder, m load.Report, runs int) {
	d := m.Machine.Database
	fmt.Fprintf(s, "The median of %d runs of %s events of %d bytes, each on a new database. %d CPUs, which generator, receiver, server and database share; %s; %s; PostgreSQL %s with fsync %s, synchronous_commit %s, full_page_writes %s, shared_buffers %s, max_wal_size %s.\n\n",
		runs, figure(float64(m.Machine.Events)), m.Machine.BodySize, m.Machine.CPUs, m.Machine.OS, m.Machine.Go,
		d["server_version"], d["fsync"], d["synchronous_commit"], d["full_page_writes"], d["shared_buffers"], d["max_wal_size"])
}

func writeTargets(s *strings.Builder, m load.Report, reports []load.Report) {
	s.WriteString("| | median | of all runs | target | | ratio to the floor |\n|---|---:|---|---:|---|---:|\n")
	for _, t := range targets {
		got := t.got(m)
		var all []string
		for _, r := range reports {
			all = append(all, figure(t.got(r)))
		}
		fmt.Fprintf(s, "| %s | **%s** | %s | %s | %s | %s |\n", t.name, figure(got), strings.Join(all, " · "), t.goal(), t.mark(got), t.ratio(got, m))
	}
}

func (t target) goal() string {
	if t.atMost {
		return "≤ " + figure(t.want)
	}
	return "≥ " + figure(t.want)
}

func (t target) mark(got float64) string {
	if t.atMost == (got <= t.want) || got == t.want {
		return "reached"
	}
	return fmt.Sprintf("%.0f %%", 100*got/t.want)
}

func (t target) ratio(got float64, m load.Report) string {
	if t.floor == nil {
		return "–"
	}
	return fmt.Sprintf("%.2f", got/t.floor(m))
}

func writeStatements(s *strings.Builder, m load.Report) {
	top := m.OneEndpoint.Cost.Top
	if len(top) == 0 {
		return
	}
	s.WriteString("\n## The database's statements, one endpoint\n\nTime includes waiting for other transactions.\n\n| ms per 1,000 events | calls per event | statement |\n|---:|---:|---|\n")
	for _, x := range top {
		text := []rune(strings.ReplaceAll(x.Text, "|", "\\|"))
		if len(text) > statementWidth {
			text = append(text[:statementWidth], '…')
		}
		fmt.Fprintf(s, "| %.1f | %.3f | `%s` |\n", x.Millis, x.Calls, strings.ReplaceAll(string(text), "`", "'"))
	}
}

// statementWidth is how much of a statement is shown.
const statementWidth = 110
