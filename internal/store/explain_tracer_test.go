package store_test

import (
	"context"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"
)

// statement is one that a method sent, with the values of its parameters.
type statement struct {
	// call names what the test asked for.
	call string
	// methods are the exported methods that were under way, innermost first.
	methods []string
	sql     string
	args    []any
}

// recorder is a tracer that keeps every statement.
type recorder struct {
	mu         sync.Mutex
	call       string
	statements []statement
}

var (
	_ pgx.QueryTracer = (*recorder)(nil)
	_ pgx.BatchTracer = (*recorder)(nil)
)

// begin names the call whose statements come next.
func (r *recorder) begin(call string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.call = call
}

func (r *recorder) keep(ctx context.Context, conn *pgx.Conn, sql string, args []any) {
	if len(args) > 0 {
		if named, ok := args[0].(pgx.QueryRewriter); ok {
			if to, values, err := named.RewriteQuery(ctx, conn, sql, args[1:]); err == nil {
				sql, args = to, values
			}
		}
	}
	methods := methodsUnderWay()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.statements = append(r.statements, statement{call: r.call, methods: methods, sql: sql, args: args})
}

// TraceQueryStart keeps a statement that is sent alone.
func (r *recorder) TraceQueryStart(ctx context.Context, conn *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	r.keep(ctx, conn, data.SQL, data.Args)
	return ctx
}

// TraceQueryEnd is of no interest.
func (*recorder) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// TraceBatchStart keeps all statements of a batch.
func (r *recorder) TraceBatchStart(ctx context.Context, conn *pgx.Conn, data pgx.TraceBatchStartData) context.Context {
	for _, q := range data.Batch.QueuedQueries {
		r.keep(ctx, conn, q.SQL, q.Arguments)
	}
	return ctx
}

// TraceBatchQuery is of no interest: the batch was kept at its start.
func (*recorder) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}

// TraceBatchEnd is of no interest.
func (*recorder) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

// methodPattern finds the exported methods of a Store or a Tx in a stack.
var methodPattern = regexp.MustCompile(`/internal/store\.(?:\(\*(Store)\)|(Tx))\.([A-Z]\w*)$`)

// stackDepth is more than any statement is deep.
const stackDepth = 64

// methodsUnderWay names the exported methods that the caller was called by, the
// transaction's frame aside.
func methodsUnderWay() (methods []string) {
	pcs := make([]uintptr, stackDepth)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs)])
	for {
		frame, more := frames.Next()
		if m := methodPattern.FindStringSubmatch(frame.Function); m != nil {
			methods = append(methods, m[1]+m[2]+"."+m[3])
		}
		if !more {
			return slices.DeleteFunc(methods, func(m string) bool { return slices.Contains(withoutSQL, m) })
		}
	}
}

// hasPlan tells whether a statement is one that the server plans.
func (s statement) hasPlan() bool {
	first, _, _ := strings.Cut(strings.TrimLeft(s.sql, " \t\n-"), " ")
	switch word, _, _ := strings.Cut(strings.ToUpper(first), "\n"); word {
	case "SELECT", "INSERT", "UPDATE", "DELETE", "WITH":
		return true
	}
	return false
}
