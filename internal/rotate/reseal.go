package rotate

import (
	"context"
	"time"

	"github.com/rowlock/rowlock/internal/clock"
	"github.com/rowlock/rowlock/internal/store"
)

const (
	// batch is how many values are sealed anew with one statement.
	batch = 200
	// passPause is how long a row that somebody holds is left alone.
	passPause = 200 * time.Millisecond
)

// reseal seals everything anew, pass by pass, until a pass finds nothing more
// that opens. A row that was changed or locked meanwhile is found by the next.
func (r *rotation) reseal(ctx context.Context) error {
	for {
		left, err := r.pass(ctx)
		if err != nil || left == 0 {
			return err
		}
		if err := clock.Sleep(ctx, passPause); err != nil {
			return err
		}
	}
}

// pass looks at each column once, and returns how many values were left.
func (r *rotation) pass(ctx context.Context) (left int, err error) {
	r.report.Unsealable = nil
	for i, c := range store.SealedColumns {
		done, err := r.column(ctx, c)
		if err != nil {
			return 0, err
		}
		if i == len(r.report.Resealed) {
			r.report.Resealed = append(r.report.Resealed, Count{Of: c.Name})
		}
		r.report.Resealed[i].N += done.Resealed
		if done.Unsealable > 0 {
			r.report.Unsealable = append(r.report.Unsealable, Count{c.Name, done.Unsealable})
		}
		left += done.Found - done.Resealed - done.Unsealable
	}
	return left, nil
}

// column seals one column's values anew and adds up the steps.
func (r *rotation) column(ctx context.Context, c store.Sealed) (sum store.ResealStep, err error) {
	for {
		if err := r.before("a batch of " + c.Name); err != nil {
			return sum, err
		}
		step, err := r.Store.Reseal(ctx, c, sum.Last, batch)
		if err != nil {
			return sum, err
		}
		sum.Found += step.Found
		sum.Resealed += step.Resealed
		sum.Unsealable += step.Unsealable
		if step.Found < batch {
			return sum, nil
		}
		sum.Last = step.Last
	}
}
