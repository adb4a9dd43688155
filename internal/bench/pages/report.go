package main

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/rowlock/rowlock/internal/bench"
)

// report asks for each page several times, after a few that do not count, and
// prints what that took, round trip included.
func report(ctx context.Context, b *browser, paths []string, runs int, out io.Writer) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "page\tbest ms\tmedian ms\tp95 ms\tmax ms\tkB sent")
	for _, path := range paths {
		took, size, err := timed(ctx, b, path, runs)
		if err != nil {
			return err
		}
		fmt.Fprintf(table, "%s\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\n", ids.ReplaceAllString(path, "${1}_…"),
			bench.Millis(took[0]), bench.Millis(took[len(took)/2]), bench.Millis(took[len(took)*95/100]), bench.Millis(took[len(took)-1]), float64(size)/1000)
	}
	return table.Flush()
}

// ids are what a table of pages is too narrow for.
var ids = regexp.MustCompile(`\b([a-z]+)_[0-9a-z]{26}\b`)

// warmUps are runs that do not count, or as many as do: each connection of the
// server makes its plans once.
const warmUps = 40

// timed returns how long each run took, shortest first, and the page's size.
func timed(ctx context.Context, b *browser, path string, runs int) (took []time.Duration, size int64, err error) {
	warm := min(warmUps, runs)
	for n := range warm + runs {
		began := time.Now()
		if size, err = b.read(ctx, path); err != nil {
			return nil, 0, err
		}
		if n >= warm {
			took = append(took, time.Since(began))
		}
	}
	slices.Sort(took)
	return took, size, nil
}
