package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rowlock/rowlock/internal/gateway"
)

// Window is a time in steps: from Since, before Until. Both are at the edge of
// a step, as LastSteps makes them, and the step is a part of a day.
type Window struct {
	Since, Until time.Time
	Step         time.Duration
}

// LastSteps is the window of the last n steps, the present one included.
func LastSteps(now time.Time, n int, step time.Duration) Window {
	until := now.UTC().Truncate(step).Add(step)
	return Window{Since: until.Add(-time.Duration(n) * step), Until: until, Step: step}
}

// Before is the window of the same length that ends where this one begins.
func (w Window) Before() Window {
	return Window{Since: w.Since.Add(w.Since.Sub(w.Until)), Until: w.Since, Step: w.Step}
}

// maxSteps is more than a page can show.
const maxSteps = 1000

// steps is how many there are. A window that nobody can show is an error.
func (w Window) steps() (int, error) {
	if w.Step < time.Minute || !w.Until.After(w.Since) || w.Until.Sub(w.Since) > maxSteps*w.Step {
		return 0, fmt.Errorf("%s to %s in steps of %s is no window", w.Since, w.Until, w.Step)
	}
	return int((w.Until.Sub(w.Since) + w.Step - 1) / w.Step), nil
}

// Bin is what happened in one step of a window.
type Bin struct {
	At time.Time
	Stats
}

// Series tells what happened in each step of a window, oldest first, those in
// which nothing did included: in the whole account, or at one endpoint.
func (s *Store) Series(ctx context.Context, account gateway.AccountID, endpoint *gateway.EndpointID, w Window) ([]Bin, error) {
	n, err := w.steps()
	if err != nil {
		return nil, fmt.Errorf("read series: %w", err)
	}
	bins := make([]Bin, n)
	for i := range bins {
		bins[i].At = w.Since.Add(time.Duration(i) * w.Step)
	}
	q := &query{}
	q.add(`SELECT date_bin(`, w.Step)
	q.add(`::interval, minute, `, w.Since)
	q.put(`) AS at, ` + addedUp)
	q.addRollups(account, endpoint, w)
	q.put(` GROUP BY at`)
	rows, err := s.pool.Query(ctx, q.sql(), q.args...)
	if err != nil {
		return nil, wrap("read series", err)
	}
	read, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (b Bin, err error) {
		return b, scanStats(row, &b.Stats, &b.At)
	})
	for _, b := range read {
		bins[b.At.Sub(w.Since)/w.Step] = b
	}
	return bins, wrap("read series", err)
}

// addRollups names the rows of a window, in the longest spans that its steps
// are made of.
func (q *query) addRollups(account gateway.AccountID, endpoint *gateway.EndpointID, w Window) {
	q.add(` FROM rollups WHERE account_id = `, account)
	q.add(` AND span = `, spanFor(w.Step))
	q.add(` AND minute >= `, w.Since)
	q.add(` AND minute < `, w.Until)
	if endpoint != nil {
		q.add(` AND endpoint_id = `, *endpoint)
	}
}

// Totals adds up a window: of the whole account, or of one endpoint.
func (s *Store) Totals(ctx context.Context, account gateway.AccountID, endpoint *gateway.EndpointID, w Window) (Stats, error) {
	var y Stats
	q := &query{}
	q.put(`SELECT ` + addedUp)
	q.addRollups(account, endpoint, w)
	err := scanStats(s.pool.QueryRow(ctx, q.sql(), q.args...), &y)
	return y, wrap("add up rollups", err)
}

// EndpointTotals adds up a window for each of a page of endpoints. One where
// nothing happened is not in the map.
func (s *Store) EndpointTotals(ctx context.Context, account gateway.AccountID, endpoints []gateway.EndpointID, w Window) (map[gateway.EndpointID]Stats, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT endpoint_id, `+addedUp+`
		FROM rollups
		WHERE account_id = $1
		  AND endpoint_id = ANY ($2)
		  AND span = $3
		  AND minute >= $4
		  AND minute < $5
		GROUP BY endpoint_id`, account, endpoints, spanFor(w.Step), w.Since, w.Until)
	if err != nil {
		return nil, wrap("add up rollups", err)
	}
	defer rows.Close()
	totals := make(map[gateway.EndpointID]Stats, len(endpoints))
	for rows.Next() {
		var id gateway.EndpointID
		var y Stats
		if err := scanStats(rows, &y, &id); err != nil {
			return nil, wrap("add up rollups", err)
		}
		totals[id] = y
	}
	return totals, wrap("add up rollups", rows.Err())
}
