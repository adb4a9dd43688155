package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/rowlock/rowlock/internal/bench"
	"github.com/rowlock/rowlock/internal/bench/load/burst"
)

// report is the table that is printed.
type report struct{ table *tabwriter.Writer }

func newReport(out io.Writer) report {
	r := report{tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)}
	fmt.Fprintln(r.table, "pushes\ta second\tp50 ms\tp95 ms\tp99 ms\tmax ms\t")
	return r
}

func (r report) add(name string, b burst.Burst) {
	fmt.Fprintf(r.table, "%s\t%.0f\t%.1f\t%.1f\t%.1f\t%.1f\t\n", name, b.PerSecond(),
		bench.Millis(b.Within(50)), bench.Millis(b.Within(95)), bench.Millis(b.Within(99)), bench.Millis(b.Within(100)))
}

func (r report) flush() error { return r.table.Flush() }
