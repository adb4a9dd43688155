package worker_test

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"log/slog"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/riverqueue/river"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/job"
	"github.com/rowlock/rowlock/internal/store"
	"github.com/rowlock/rowlock/internal/worker"
)

// named is a job of which nothing but its kind is known.
type named struct{ kind string }

// Kind is the job's name.
func (n named) Kind() string { return n.kind }

// jobSource parses package job.
func jobSource(t *testing.T) (files []*ast.File) {
	t.Helper()
	paths, err := filepath.Glob("../job/*.go")
	if err != nil || len(paths) == 0 {
		t.Fatalf("package job has no source: %v", err)
	}
	for _, path := range paths {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	return files
}

// kinds are what the Kind methods of package job return.
func kinds(t *testing.T) (found []string) {
	t.Helper()
	for _, file := range jobSource(t) {
		for _, decl := range file.Decls {
			method, ok := decl.(*ast.FuncDecl)
			if ok && method.Recv != nil && method.Name.Name == "Kind" {
				found = append(found, literal(t, method.Body.List[0].(*ast.ReturnStmt).Results[0]))
			}
		}
	}
	return found
}

// queues are the values of package job's constants whose names begin with
// Queue.
func queues(t *testing.T) (found []string) {
	t.Helper()
	for _, file := range jobSource(t) {
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if ok && len(spec.Values) == 1 && len(spec.Names[0].Name) > 5 && spec.Names[0].Name[:5] == "Queue" {
				found = append(found, literal(t, spec.Values[0]))
			}
			return true
		})
	}
	return found
}

func literal(t *testing.T, e ast.Expr) string {
	t.Helper()
	lit, ok := e.(*ast.BasicLit)
	if !ok {
		t.Fatalf("%T is not a literal", e)
	}
	text, err := strconv.Unquote(lit.Value)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestEveryJobHasAWorker(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	all := kinds(t)
	if len(all) < 2 {
		t.Fatalf("package job has kinds %q", all)
	}
	for _, kind := range all {
		if _, err := b.client.Insert(t.Context(), named{kind}, nil); err != nil {
			t.Errorf("a job of kind %s: %v", kind, err)
		}
	}
	var unknown *river.UnknownJobKindError
	if _, err := b.client.Insert(t.Context(), named{"nobody's"}, nil); !errors.As(err, &unknown) {
		t.Errorf("a job that nobody works: %v", err)
	}
}

func TestEveryQueueIsWorked(t *testing.T) {
	t.Parallel()
	config := worker.Config(worker.Options{Log: slog.New(slog.DiscardHandler)})
	all := queues(t)
	if len(all) < 2 {
		t.Fatalf("package job has queues %q", all)
	}
	for _, queue := range all {
		if config.Queues[queue].MaxWorkers < 1 {
			t.Errorf("nobody works the queue %s", queue)
		}
		if !slices.Contains(job.AllQueues, queue) {
			t.Errorf("the queue %s is not listed", queue)
		}
	}
}

// accept stores events and the job that decides them.
func (b *bundle) accept(t *testing.T, n int) []gateway.EventID {
	t.Helper()
	var ids []gateway.EventID
	var events []store.NewEvent
	for range n {
		id := gateway.EventID(b.clock.NewID())
		ids = append(ids, id)
		events = append(events, store.NewEvent{
			Event: gateway.Event{ID: id, AccountID: b.account, SourceID: b.source, Type: "a", Status: gateway.EventAccepted},
			Body:  gateway.Body{Method: "POST", Headers: store.JSONHeaders, Data: []byte(`{}`)},
		})
	}
	b.in(t, func(tx store.Tx) error {
		if err := tx.InsertEvents(t.Context(), events); err != nil {
			return err
		}
		return tx.Enqueue(t.Context(), job.Process{EventIDs: ids})
	})
	return ids
}

// Jobs alone carry an event from its acceptance to the receiver.
func TestJobsCarryEventsThrough(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	got := b.receiver(t)
	b.accept(t, 3)
	b.start(t)
	b.accept(t, 3)
	b.untilCount(t, 6, `SELECT count(*) FROM deliveries WHERE status = 'delivered'`)
	b.untilCount(t, 0, `SELECT count(*) FROM river_job WHERE state <> 'completed'`)
	if n := got.Load(); n != 6 {
		t.Errorf("%d requests for 6 deliveries", n)
	}
}

// A job that comes again changes nothing.
func TestJobsCanBeRepeated(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	got := b.receiver(t)
	ids := b.accept(t, 2)
	for range 10 {
		b.in(t, func(tx store.Tx) error { return tx.Enqueue(t.Context(), job.Process{EventIDs: ids}) })
	}
	b.start(t)
	b.untilCount(t, 2, `SELECT count(*) FROM deliveries WHERE status = 'delivered'`)
	b.untilCount(t, 0, `SELECT count(*) FROM river_job WHERE state <> 'completed'`)
	b.untilCount(t, 2, `SELECT sum(events)::int FROM usage`)
	if n := got.Load(); n != 2 {
		t.Errorf("%d requests for 2 deliveries", n)
	}
}

// A job whose use case fails is over, for whoever looks why; what it was for
// gets a new one by the sweep.
func TestFailedJobIsReplaced(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.receiver(t)
	if _, err := b.pool.Exec(t.Context(), `ALTER TABLE usage RENAME TO usage_away`); err != nil {
		t.Fatal(err)
	}
	b.accept(t, 1)
	b.start(t)
	b.untilCount(t, 1, `SELECT count(*) FROM river_job WHERE kind = 'process' AND state = 'discarded' AND cardinality(errors) = 1`)
	if _, err := b.pool.Exec(t.Context(), `ALTER TABLE usage_away RENAME TO usage`); err != nil {
		t.Fatal(err)
	}
	if _, err := b.pool.Exec(t.Context(), `UPDATE events SET decide_after = now() - interval '1 minute'`); err != nil {
		t.Fatal(err)
	}
	if n, err := b.decide.Sweep(t.Context()); n != 1 || err != nil {
		t.Fatalf("the sweep found %d events, %v", n, err)
	}
	b.untilCount(t, 1, `SELECT count(*) FROM deliveries WHERE status = 'delivered'`)
}
