package load

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/rowlock/rowlock/internal/bench/load/burst"
)

// floor measures what no server could do without: an exchange over HTTP, a row
// committed, and rows committed many at a time.
func (r *run) floor(ctx context.Context, report *Report) error {
	for _, c := range r.Connections {
		b, err := r.echo(ctx, c)
		if err != nil {
			return err
		}
		report.Floor.Echo = append(report.Floor.Echo, rate(c, b))
	}
	if r.pool == nil {
		return nil
	}
	return r.withFloor(ctx, func() error {
		for _, c := range r.Connections {
			single, err := r.commits(ctx, c)
			if err != nil {
				return err
			}
			together, err := r.groups(ctx, c)
			if err != nil {
				return err
			}
			report.Floor.Commit = append(report.Floor.Commit, rate(c, single))
			report.Floor.Group = append(report.Floor.Group, rate(c, together))
		}
		return nil
	})
}

// echo sends the events to a handler that reads them, and no more, in this
// process.
func (r *run) echo(ctx context.Context, connections int) (burst.Burst, error) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if _, err := io.Copy(io.Discard, q.Body); err == nil {
			w.WriteHeader(http.StatusAccepted)
		}
	}))
	defer server.Close()
	to, err := url.Parse(server.URL)
	if err != nil {
		return burst.Burst{}, fmt.Errorf("read an address: %w", err)
	}
	wires, hangUp, err := dialAll(ctx, to, connections)
	if err != nil {
		return burst.Burst{}, err
	}
	defer hangUp()
	of, top := newBody(r.BodySize), head(to, "/", "")
	return burst.Warm(ctx, connections, r.Events, func(_ context.Context, c, n int) error {
		_, _, err := wires[c].send(top, len(of.of), func(buffer []byte) []byte { return of.put(buffer, n) })
		return err
	})
}

const (
	makeFloor = `CREATE TABLE IF NOT EXISTS bench_floor (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, body bytea NOT NULL)`
	addFloor  = `INSERT INTO bench_floor (body) VALUES ($1)`
	addFloors = `INSERT INTO bench_floor (body) SELECT unnest($1::bytea[])`
	dropFloor = `DROP TABLE IF EXISTS bench_floor`
)

// withFloor has a table as long as do needs it.
func (r *run) withFloor(ctx context.Context, do func() error) (err error) {
	if _, err := r.pool.Exec(ctx, makeFloor); err != nil {
		return fmt.Errorf("make a table: %w", err)
	}
	defer func() {
		_, gone := r.pool.Exec(context.WithoutCancel(ctx), dropFloor)
		err = errors.Join(err, wrap("drop a table", gone))
	}()
	return do()
}

// commits puts each event into the table in a transaction of its own, over so
// many connections.
func (r *run) commits(ctx context.Context, connections int) (burst.Burst, error) {
	config := r.pool.Config()
	config.MaxConns = int32(connections) //nolint:gosec // at most maxConnections
	wide, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return burst.Burst{}, fmt.Errorf("connect to the database: %w", err)
	}
	defer wide.Close()
	of := newBody(r.BodySize)
	return burst.Warm(ctx, connections, max(r.Events*min(connections, 8)/8, 1), func(ctx context.Context, _, n int) error {
		_, err := wide.Exec(ctx, addFloor, of.put(nil, n))
		return wrap("commit a row", err)
	})
}

const (
	// committers commit for all who wait, as many rows at once as wait, up to a group.
	committers = 2
	group      = 64
)

// waiting is a row whose owner waits for its commit.
type waiting struct {
	row  []byte
	done chan error
}

// groups puts each event into the table with what else waits.
func (r *run) groups(ctx context.Context, connections int) (burst.Burst, error) {
	rows := make(chan waiting, connections)
	var at sync.WaitGroup
	for range committers {
		at.Go(func() { r.commitGroups(ctx, rows) })
	}
	defer at.Wait()
	defer close(rows)
	of := newBody(r.BodySize)
	return burst.Warm(ctx, connections, max(r.Events*min(connections, 8)/8, 1), func(ctx context.Context, _, n int) error {
		w := waiting{of.put(nil, n), make(chan error, 1)}
		rows <- w
		select {
		case err := <-w.done:
			return wrap("commit rows", err)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	})
}

// commitGroups commits until no more rows come.
func (r *run) commitGroups(ctx context.Context, rows <-chan waiting) {
	for first := range rows {
		all := taken(first, rows)
		bodies := make([][]byte, len(all))
		for i, w := range all {
			bodies[i] = w.row
		}
		_, err := r.pool.Exec(ctx, addFloors, bodies)
		for _, w := range all {
			w.done <- err
		}
	}
}

// taken is the first row and those that wait with it.
func taken(first waiting, rows <-chan waiting) []waiting {
	all := []waiting{first}
	for len(all) < group {
		select {
		case w, more := <-rows:
			if !more {
				return all
			}
			all = append(all, w)
		default:
			return all
		}
	}
	return all
}
