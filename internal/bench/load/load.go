// Package load measures a running server from outside: events are published
// to it over many connections, endpoints of its own receive them, and what that
// took stands beside what no server could do without.
package load

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/rowlock/rowlock/internal/client"
)

// Options say what is measured, and how much of it.
type Options struct {
	// Server is the server's address, Key an API key of it with the scope manage.
	Server, Key string
	// Metrics are the addresses of the /metrics of all its nodes; without one,
	// nothing is told of their processor time and memory.
	Metrics []string
	// Database is the address of its database; without it nothing is told of the
	// database, nor of the floor of commits.
	Database string
	// Events is how many events a burst has.
	Events int
	// BodySize is the size of an event's data in bytes.
	BodySize int
	// Connections are the numbers of connections that accepting is measured with.
	// Whatever else is measured has the last of them.
	Connections []int
	// Steady is how long events come at a steady pace.
	Steady time.Duration
	// Grow asks how the cost grows with endpoints and sizes, too.
	Grow bool
	// Log is told what is being measured.
	Log *slog.Logger
}

// The usual numbers.
const (
	UsualEvents   = 20_000
	UsualBodySize = 1024
	UsualSteady   = 20 * time.Second
)

// UsualConnections are one caller after the other, some, and many.
func UsualConnections() []int { return []int{1, 16, 64} }

// OptionError is an option that cannot be used.
type OptionError struct{ problem string }

// Error says which, and what is wrong with it.
func (e *OptionError) Error() string { return e.problem }

// check tells which option cannot be used.
func (o Options) check() error {
	switch {
	case o.Events < 1:
		return &OptionError{fmt.Sprintf("%d events are none to measure with", o.Events)}
	case o.BodySize < minBody:
		return &OptionError{fmt.Sprintf("a body of %d bytes is too small to carry its number: at least %d", o.BodySize, minBody)}
	case len(o.Connections) == 0:
		return &OptionError{"no number of connections to measure with"}
	case o.Steady <= 0:
		return &OptionError{fmt.Sprintf("%s is no time to measure in", o.Steady)}
	}
	for _, n := range o.Connections {
		if n < 1 || n > maxConnections {
			return &OptionError{fmt.Sprintf("%d connections: between 1 and %d can be measured with", n, maxConnections)}
		}
	}
	return nil
}

// maxConnections keeps a measurement within the files that a process may open.
const maxConnections = 512

// run is one measurement of one server.
type run struct {
	Options
	// name is in the type of every event, so that no endpoint of another
	// measurement asks for them.
	name   string
	server *url.URL
	client *client.Client
	pool   *pgxpool.Pool // nil: no database is looked at
	usage  *usage
}

// Run measures, and returns what it found. Whatever it makes at the server it
// takes away again, events excepted.
func Run(ctx context.Context, o Options) (report Report, err error) {
	if err := o.check(); err != nil {
		return Report{}, err
	}
	r, err := newRun(ctx, o)
	if err != nil {
		return Report{}, err
	}
	defer r.close()
	return r.measure(ctx)
}

func newRun(ctx context.Context, o Options) (*run, error) {
	r := &run{Options: o, name: "bench." + strings.ToLower(rand.Text()[:10])}
	if r.Log == nil {
		r.Log = slog.New(slog.DiscardHandler)
	}
	var err error
	if r.client, err = client.New(o.Server, o.Key); err != nil {
		return nil, err
	}
	if r.server, err = url.Parse(o.Server); err != nil {
		return nil, fmt.Errorf("read the server's address: %w", err)
	}
	if o.Database != "" {
		if r.pool, err = connect(ctx, o.Database); err != nil {
			return nil, err
		}
	}
	if r.usage, err = newUsage(ctx, o.Metrics, r.pool); err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

func (r *run) close() {
	if r.pool != nil {
		r.pool.Close()
	}
}

// measure takes each measurement in turn, the floor first.
func (r *run) measure(ctx context.Context) (report Report, err error) {
	if report.Machine, err = r.machine(ctx); err != nil {
		return Report{}, err
	}
	for _, part := range []struct {
		name string
		of   func(context.Context, *Report) error
	}{
		{"the floor", r.floor},
		{"accepting", r.accepting},
		{"one endpoint", r.oneEndpoint},
		{"fan-out", r.fanOut},
		{"a steady pace", r.steady},
		{"beside a slow endpoint", r.besideSlow},
		{"growing", r.growing},
	} {
		r.Log.InfoContext(ctx, "measuring", "what", part.name)
		if err := part.of(ctx, &report); err != nil {
			return report, fmt.Errorf("measure %s: %w", part.name, err)
		}
	}
	return report, nil
}
