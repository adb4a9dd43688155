package store_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/rowlock/rowlock/internal/bench/fill"
	"github.com/rowlock/rowlock/internal/clock"
	"github.com/rowlock/rowlock/internal/pgtest"
	"github.com/rowlock/rowlock/internal/store"
)

// The history that plans are made for: some thousand rows in each partition,
// so that a plan that reads them all is dearer than one that does not.
const (
	explainedEvents = 24_000
	explainedDays   = 3
	// daysAround are days without a row on either side.
	daysAround = 3
)

// TestPlans runs every method on a database with several days of history and
// looks at the plan of each statement: whoever touches a table that grows with
// time does it by an index, and in no more days than it must.
func TestPlans(t *testing.T) {
	t.Parallel()
	b, kept := newRecorded(t)
	x := explained{Store: b.Store, past: newPast(t, b), b: b}
	for _, c := range x.calls() {
		kept.begin(c.name)
		if err := x.run(t.Context(), c); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	wantEveryMethod(t, kept.statements)
	conn, err := b.pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	j := judge{planner: planner{conn.Conn()}, filled: filledPartitions(t, b), calls: map[string]call{}, excused: map[string]bool{}}
	for _, c := range x.calls() {
		j.calls[c.name] = c
	}
	j.all(t, kept.statements)
}

// newRecorded is a bundle whose store keeps what it sends, and which has a
// history; the bundle's pool is not listened to.
func newRecorded(t *testing.T) (bundle, *recorder) {
	t.Helper()
	b := newBundle(t)
	kept := &recorder{}
	config := b.pool.Config()
	config.ConnConfig.Tracer = kept
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	if b.Store, err = store.New(pool, pgtest.Sealer(t), slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	return b, kept
}

// fillHistory lays the history and returns the account that has most of it.
func fillHistory(t *testing.T, b bundle) fill.Account {
	t.Helper()
	now := clock.New().Now()
	for _, days := range []int{-explainedDays - daysAround, daysAround} {
		if _, err := b.MakePartitions(t.Context(), now.AddDate(0, 0, min(days, 0)), now.AddDate(0, 0, max(days, 0))); err != nil {
			t.Fatal(err)
		}
	}
	accounts, err := fill.Fill(t.Context(), b.pool, fill.Options{
		Events: explainedEvents, Days: explainedDays, Until: now.Truncate(24 * time.Hour), // whole days, at whatever hour the test runs
		Accounts: 3, Sources: 3, Endpoints: 4, BodySize: 64,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := fill.Settle(t.Context(), b.pool); err != nil {
		t.Fatal(err)
	}
	return accounts[0]
}

func filledPartitions(t *testing.T, b bundle) map[string]bool {
	t.Helper()
	rows, err := b.pool.Query(t.Context(), `
		SELECT relname
		FROM pg_class
		WHERE relkind = 'r'
		  AND relispartition
		  AND pg_relation_size(oid) > 0`)
	if err != nil {
		t.Fatal(err)
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	filled := map[string]bool{}
	for _, name := range names {
		filled[name] = true
	}
	if len(filled) < explainedDays*len([]string{"events", "event_bodies", "deliveries", "attempts"}) {
		t.Fatalf("only %d partitions have rows: %v", len(filled), names)
	}
	return filled
}

// call is one question to the store.
type call struct {
	name string
	// oneDay: it names one event or what hangs on it, and reads one day.
	oneDay bool
	do     func(context.Context, store.Tx) error
}

// errUndo rolls a call back, so that each finds the history as it was.
var errUndo = errors.New("undo")

// run runs a call in a transaction that leaves nothing behind.
func (x *explained) run(ctx context.Context, c call) error {
	err := x.InTx(ctx, func(tx store.Tx) error {
		if err := c.do(ctx, tx); err != nil {
			return err
		}
		return errUndo
	})
	if errors.Is(err, errUndo) {
		return nil
	}
	return err
}

// withoutSQL are the methods that send no statement of their own.
var withoutSQL = []string{"Store.InTx", "Store.Ping"}

// wantEveryMethod fails unless every exported method sent something.
func wantEveryMethod(t *testing.T, statements []statement) {
	t.Helper()
	sent := map[string]bool{}
	for _, s := range statements {
		for _, m := range s.methods {
			sent[m] = true
		}
	}
	var missing []string
	for prefix, of := range map[string]reflect.Type{"Store.": reflect.TypeFor[*store.Store](), "Tx.": reflect.TypeFor[store.Tx]()} {
		for method := range of.Methods() {
			if name := prefix + method.Name; !sent[name] && !slices.Contains(withoutSQL, name) {
				missing = append(missing, name)
			}
		}
	}
	slices.Sort(missing)
	if diff := cmp.Diff([]string(nil), missing); diff != "" {
		t.Errorf("methods whose plans nobody looks at: add a call for each (-want +got):\n%s", diff)
	}
}

// judge looks at plans.
type judge struct {
	planner
	filled  map[string]bool
	calls   map[string]call
	excused map[string]bool
}

// all looks at each statement three times: as the server would plan it; without
// reading whole tables, as sessions have it, which shows for empty days what no
// index can serve; and so after somebody has analyzed the empty days.
func (j *judge) all(t *testing.T, statements []statement) {
	t.Helper()
	seen := map[string]bool{}
	for pass, set := range []string{`SET enable_seqscan = on`, `SET enable_seqscan = off`, `ANALYZE`} {
		j.exec(t, set)
		for _, s := range statements {
			if key := set + s.call + s.sql; s.hasPlan() && !seen[key] {
				seen[key] = true
				j.one(t, s, pass == 0)
			}
		}
	}
	for _, e := range excuses {
		if !j.excused[e.method+e.what] {
			t.Errorf("nothing needs the excuse of %s any more: %s", e.method, e.why)
		}
	}
}

// one looks at one plan. natural tells that nothing was forbidden.
func (j *judge) one(t *testing.T, s statement, natural bool) {
	t.Helper()
	plan := j.plan(t, s)
	for part := range plan.all() {
		if part.table() != "" && part.Kind == "Seq Scan" && (!natural || j.filled[part.Relation]) {
			j.complain(t, s, wholeDay, plan)
			break
		}
	}
	if plan.sorts() {
		j.complain(t, s, sorted, plan)
	}
	if !natural {
		return
	}
	days := plan.partitions()
	if (j.calls[s.call].oneDay || isOf(s, byID)) && slices.Max(append(slices.Collect(maps.Values(days)), 0)) > 1 {
		j.complain(t, s, manyDays, plan)
	}
	if len(days) == 0 {
		return
	}
	if done := j.carryOut(t, s); done.read() > mostRead {
		j.complain(t, s, fmt.Sprintf("%s: %d rows", readsMany, done.read()), done)
	}
}

// mostRead is how many rows a statement may read from the big tables: a page
// for each endpoint, or the rows among which a page has two things in common.
// It is far less than a day has, or the hours between two times.
const mostRead = 20 * listed

func isOf(s statement, methods []string) bool {
	return slices.ContainsFunc(s.methods, func(m string) bool { return slices.Contains(methods, m) })
}

// What can be wrong with a plan.
const (
	wholeDay  = "reads a whole day"
	sorted    = "sorts what it has read"
	manyDays  = "looks for one thing in many days"
	readsMany = "reads many rows"
)

func (j *judge) complain(t *testing.T, s statement, what string, plan *node) {
	t.Helper()
	for _, e := range excuses {
		if strings.HasPrefix(what, e.what) && slices.Contains(s.methods, e.method) && strings.Contains(s.sql, e.part) {
			j.excused[e.method+e.what] = true
			return
		}
	}
	t.Errorf("%s (%s) %s:\n%s\n%s", s.call, strings.Join(s.methods, ", "), what, s.sql, plan.outline())
}
