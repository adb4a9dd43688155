package load

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// Print writes the report as tables, each figure with its ratio to the floor.
func (r Report) Print(out io.Writer) error {
	m := r.Machine
	fmt.Fprintf(out, "%d CPUs, %s, %s; %d events of %d bytes\n", m.CPUs, m.OS, m.Go, m.Events, m.BodySize)
	if m.Database != nil {
		fmt.Fprintf(out, "PostgreSQL %s, fsync %s, synchronous_commit %s, shared_buffers %s\n",
			m.Database["server_version"], m.Database["fsync"], m.Database["synchronous_commit"], m.Database["shared_buffers"])
	}
	for _, table := range []struct {
		head string
		rows func(io.Writer)
	}{
		{"\nfloor\tconnections\ta second\tp50 ms\tp99 ms\tmax ms\t", r.printFloor},
		{"\naccept\tconnections\ta second\tp50 ms\tp99 ms\tmax ms\tof committed together\t", r.printAccept},
		{"\nend to end\tendpoints\tbytes\tdeliveries/s\tof HTTP alone\tp50 ms\tp99 ms\taccept/s\taccept p99\trepeated\t", r.printFlows},
		{"\ncost\tendpoints\tbytes\tCPU s/10,000\tserver\tdatabase\tmemory MiB\tstatements/event\tWAL bytes/event\tdead rows/event\tHOT\t", r.printCosts},
		{"\nat 100 events a second\tp50 ms\tp99 ms\tmax ms\t", r.printSteady},
	} {
		to := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintln(to, table.head)
		table.rows(to)
		if err := to.Flush(); err != nil {
			return fmt.Errorf("print the report: %w", err)
		}
	}
	return nil
}

func (r Report) printFloor(out io.Writer) {
	for _, f := range []struct {
		name string
		of   []Rate
	}{{"HTTP alone", r.Floor.Echo}, {"committed one by one", r.Floor.Commit}, {"committed together", r.Floor.Group}} {
		for _, x := range f.of {
			fmt.Fprintf(out, "%s\t%d\t%.0f\t%.1f\t%.1f\t%.1f\t\n", f.name, x.Connections, x.PerSecond, x.P50, x.P99, x.Max)
		}
	}
}

func (r Report) printAccept(out io.Writer) {
	for i, x := range r.Accept {
		fmt.Fprintf(out, "rowlock\t%d\t%.0f\t%.1f\t%.1f\t%.1f\t%s\t\n", x.Connections, x.PerSecond, x.P50, x.P99, x.Max, r.ofGroup(i))
	}
}

// ofGroup is the i-th rate of accepting as a share of rows committed together.
func (r Report) ofGroup(i int) string {
	if i >= len(r.Floor.Group) {
		return "–"
	}
	return fmt.Sprintf("%.2f", r.Accept[i].PerSecond/r.Floor.Group[i].PerSecond)
}

// Echo is the floor of HTTP exchanges a second over all connections.
func (r Report) Echo() float64 { return r.Floor.Echo[len(r.Floor.Echo)-1].PerSecond }

// Flows are all flows of the report, the two that are always measured first.
func (r Report) Flows() []Flow {
	return append(append([]Flow{r.OneEndpoint, r.FanOut}, r.Endpoints...), r.Sizes...)
}

func (r Report) printFlows(out io.Writer) {
	for _, f := range r.Flows() {
		fmt.Fprintf(out, "rowlock\t%d\t%d\t%.0f\t%.2f\t%.1f\t%.1f\t%.0f\t%.1f\t%d\t\n", f.Endpoints, f.BodySize, f.PerSecond,
			f.PerSecond/r.Echo(), f.Latency.P50, f.Latency.P99, f.Accept.PerSecond, f.Accept.P99, f.Repeated)
	}
}

func (r Report) printCosts(out io.Writer) {
	for _, f := range r.Flows() {
		c := f.Cost
		fmt.Fprintf(out, "rowlock\t%d\t%d\t%.2f\t%.2f\t%.2f\t%.0f\t%.2f\t%.0f\t%.2f\t%.2f\t\n", f.Endpoints, f.BodySize,
			c.CPU(), c.ServerCPU, c.DatabaseCPU, float64(c.Memory)/(1<<20), c.Statements, c.WAL, c.Dead, c.HOT)
	}
}

func (r Report) printSteady(out io.Writer) {
	for _, x := range []struct {
		name string
		of   Latency
	}{{"alone", r.Steady}, {"beside a slow endpoint", r.BesideSlow}} {
		fmt.Fprintf(out, "%s\t%.1f\t%.1f\t%.1f\t\n", x.name, x.of.P50, x.of.P99, x.of.Max)
	}
}
