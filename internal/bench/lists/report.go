package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/rowlock/rowlock/internal/bench"
)

// list is one question to the database; it returns how many rows came.
type list struct {
	name string
	ask  func(context.Context) (int, error)
}

// report asks for each list several times, after once that does not count, and
// prints what that took, round trip and reading of the rows included.
func report(ctx context.Context, lists []list, runs int, out io.Writer) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "list\trows\tbest ms\tmedian ms\tmax ms\tfirst ms\t")
	for _, l := range lists {
		took, first, rows, err := timed(ctx, l, runs)
		if err != nil {
			return fmt.Errorf("%s: %w", l.name, err)
		}
		fmt.Fprintf(table, "%s\t%d\t%.2f\t%.2f\t%.2f\t%.2f\t\n", l.name, rows,
			bench.Millis(took[0]), bench.Millis(took[len(took)/2]), bench.Millis(took[len(took)-1]), bench.Millis(first))
	}
	return table.Flush()
}

// timed returns how long each run took, shortest first, and the first one
// apart, which also makes the plan and may read from the disk.
func timed(ctx context.Context, l list, runs int) (took []time.Duration, first time.Duration, rows int, err error) {
	for n := range runs + 1 {
		began := time.Now()
		if rows, err = l.ask(ctx); err != nil {
			return nil, 0, 0, err
		}
		if n == 0 {
			first = time.Since(began)
			continue
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	return took, first, rows, nil
}
