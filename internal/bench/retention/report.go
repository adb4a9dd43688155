package main

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/rowlock/rowlock/internal/bench"
)

// table is what is printed: what was done, how long it took, and how events were
// accepted meanwhile.
type table struct{ to *tabwriter.Writer }

func newTable(out io.Writer) table {
	t := table{to: tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)}
	fmt.Fprintln(t.to, "what\ttook ms\taccepted\tp50 ms\tp99 ms\tmax ms")
	return t
}

// row is a line of what took no time of its own.
func (t table) row(what string, took []time.Duration) {
	fmt.Fprintf(t.to, "%s\t\t%s\n", what, accepted(took))
}

func (t table) step(what string, d time.Duration, took []time.Duration) {
	fmt.Fprintf(t.to, "%s\t%.0f\t%s\n", what, bench.Millis(d), accepted(took))
}

func (t table) flush() error { return t.to.Flush() }

// accepted tells how long events took, shortest first, to be accepted.
func accepted(took []time.Duration) string {
	if len(took) == 0 {
		return "0"
	}
	return fmt.Sprintf("%d\t%.1f\t%.1f\t%.1f", len(took),
		bench.Millis(took[len(took)/2]), bench.Millis(took[len(took)*99/100]), bench.Millis(took[len(took)-1]))
}
