package load

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// usage looks at what the server's nodes and its database have used.
type usage struct {
	metrics []string
	client  *http.Client
	pool    *pgxpool.Pool
	// postmaster is the database's first process; 0 when it is not on this machine.
	postmaster int
}

func newUsage(ctx context.Context, metrics []string, pool *pgxpool.Pool) (*usage, error) {
	u := &usage{metrics: metrics, client: &http.Client{Timeout: answerWithin}, pool: pool}
	if pool != nil {
		var err error
		if u.postmaster, err = postmaster(ctx, pool); err != nil {
			return nil, err
		}
	}
	return u, nil
}

// used is what was used up to a moment.
type used struct {
	server   time.Duration // processor time of all nodes
	memory   int64         // bytes, of all nodes
	database time.Duration
	tables   tables
}

func (u *usage) look(ctx context.Context) (now used, err error) {
	for _, address := range u.metrics {
		seconds, bytes, err := Scrape(ctx, u.client, address)
		if err != nil {
			return used{}, err
		}
		now.server += time.Duration(seconds * float64(time.Second))
		now.memory += int64(bytes)
	}
	if u.postmaster != 0 {
		if now.database, err = familyTime(u.postmaster); err != nil {
			return used{}, err
		}
	}
	if u.pool != nil {
		now.tables, err = lookAtTables(ctx, u.pool)
	}
	return now, err
}

// Scrape reads a node's processor time in seconds and its memory in bytes, from the
// address of its metrics.
func Scrape(ctx context.Context, client *http.Client, address string) (seconds, bytes float64, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return 0, 0, fmt.Errorf("read metrics: %w", err)
	}
	answer, err := client.Do(request)
	if err != nil {
		return 0, 0, fmt.Errorf("read metrics: %w", err)
	}
	defer answer.Body.Close() //nolint:errcheck // what was to be read was
	found := 0
	for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
		for name, into := range map[string]*float64{"process_cpu_seconds_total ": &seconds, "process_resident_memory_bytes ": &bytes} {
			if text, ok := strings.CutPrefix(lines.Text(), name); ok {
				if *into, err = strconv.ParseFloat(text, 64); err != nil {
					return 0, 0, fmt.Errorf("read metrics: %w", err)
				}
				found++
			}
		}
	}
	if found != 2 {
		return 0, 0, fmt.Errorf("read metrics: %w", errNoMetrics)
	}
	return seconds, bytes, nil
}

var errNoMetrics = errors.New("the address does not answer with a process's metrics (ROWLOCK_METRICS_LISTEN has it)")

// cost is what was used between two looks, for so many deliveries of so many events.
func cost(before, after used, deliveries, events int) Cost {
	per := 10_000 / float64(deliveries)
	top, calls := between(before.tables.statements, after.tables.statements, events)
	return Cost{
		Top:         top,
		ServerCPU:   round((after.server - before.server).Seconds() * per),
		DatabaseCPU: round((after.database - before.database).Seconds() * per),
		Memory:      after.memory,
		Statements:  round(calls / float64(events)),
		WAL:         round(float64(after.tables.wal-before.tables.wal) / float64(events)),
		Dead:        round(float64(after.tables.updated+after.tables.deleted-before.tables.updated-before.tables.deleted) / float64(events)),
		HOT:         ratio(after.tables.hot-before.tables.hot, after.tables.updated-before.tables.updated),
	}
}
