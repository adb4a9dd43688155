package store_test

import (
	"fmt"
	"iter"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// node is a part of a plan, as EXPLAIN tells it.
type node struct {
	Kind     string   `json:"Node Type"`
	Relation string   `json:"Relation Name"`
	Alias    string   `json:"Alias"`
	SortKey  []string `json:"Sort Key"`
	Rows     float64  `json:"Actual Rows"` // of one loop
	Filtered float64  `json:"Rows Removed by Filter"`
	Lossy    float64  `json:"Rows Removed by Index Recheck"`
	Loops    float64  `json:"Actual Loops"`
	Parts    []node   `json:"Plans"`
}

// all goes through a plan from the top.
func (n *node) all() iter.Seq[*node] {
	return func(yield func(*node) bool) { n.walk(yield) }
}

func (n *node) walk(yield func(*node) bool) bool {
	if !yield(n) {
		return false
	}
	for i := range n.Parts {
		if !n.Parts[i].walk(yield) {
			return false
		}
	}
	return true
}

// partition matches the name of a partition, and what it is a part of.
var partition = regexp.MustCompile(`^(events|event_bodies|requests|deliveries|attempts|event_keys)_\d+$`)

// table is what the scanned partition is a part of; empty when the node does
// not scan one.
func (n *node) table() string {
	if m := partition.FindStringSubmatch(n.Relation); m != nil && strings.Contains(n.Kind, "Scan") {
		return m[1]
	}
	return ""
}

// partitions counts the partitions of each table that a plan reads.
func (n *node) partitions() map[string]int {
	seen := map[string]bool{}
	counts := map[string]int{}
	for part := range n.all() {
		if table := part.table(); table != "" && !seen[part.Relation] {
			seen[part.Relation] = true
			counts[table]++
		}
	}
	return counts
}

// read counts the rows of partitions that were read, those that nobody wanted
// included, when the plan was carried out.
func (n *node) read() (rows int) {
	for part := range n.all() {
		if part.table() != "" && part.Kind != "Bitmap Index Scan" {
			rows += int((part.Rows + part.Filtered + part.Lossy) * part.Loops)
		}
	}
	return rows
}

// sorts tells whether a plan sorts what it has read from partitions.
func (n *node) sorts() bool {
	for part := range n.all() {
		if strings.HasSuffix(part.Kind, "Sort") && len(part.partitions()) > 0 {
			return true
		}
	}
	return false
}

// planner asks for plans on a connection of its own.
type planner struct{ conn *pgx.Conn }

// plan returns the plan that the server would keep for all values of the
// parameters, with the partitions that it would leave out for these values.
func (p planner) plan(t *testing.T, s statement) *node { return p.explain(t, s, `FORMAT JSON`) }

// carryOut returns the plan with what it really read. It leaves nothing behind.
func (p planner) carryOut(t *testing.T, s statement) *node {
	p.exec(t, `BEGIN`)
	defer p.exec(t, `ROLLBACK`)
	return p.explain(t, s, `FORMAT JSON, ANALYZE, TIMING OFF`)
}

func (p planner) explain(t *testing.T, s statement, how string) *node {
	t.Helper()
	p.exec(t, `PREPARE explained AS `+s.sql)
	defer p.exec(t, `DEALLOCATE explained`)
	var plans []struct{ Plan node }
	sql := `EXPLAIN (` + how + `) EXECUTE explained` + p.values(t, s)
	if err := p.conn.QueryRow(t.Context(), sql, pgx.QueryExecModeSimpleProtocol).Scan(&plans); err != nil || len(plans) != 1 {
		t.Fatalf("explain: %v: %d plans\n%s", err, len(plans), s.sql)
	}
	return &plans[0].Plan
}

// values writes the parameters as literals of their types: EXECUTE takes no
// others.
func (p planner) values(t *testing.T, s statement) string {
	t.Helper()
	if len(s.args) == 0 {
		return ""
	}
	var types, literals []string
	err := p.conn.QueryRow(t.Context(), `
		SELECT parameter_types::text[]
		FROM pg_prepared_statements
		WHERE name = 'explained'`).Scan(&types)
	if err != nil {
		t.Fatalf("read the types of the parameters: %v", err)
	}
	quoted := make([]string, len(types))
	for i, kind := range types {
		quoted[i] = fmt.Sprintf("quote_nullable($%d::%s::text)", i+1, kind)
	}
	err = p.conn.QueryRow(t.Context(), `SELECT ARRAY[`+strings.Join(quoted, ", ")+`]`, s.args...).Scan(&literals)
	if err != nil {
		t.Fatalf("write parameters as literals: %v\n%s", err, s.sql)
	}
	return "(" + strings.Join(literals, ", ") + ")"
}

func (p planner) exec(t *testing.T, sql string) {
	t.Helper()
	if _, err := p.conn.Exec(t.Context(), sql, pgx.QueryExecModeSimpleProtocol); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// outline draws a plan, for messages.
func (n *node) outline() string {
	var text strings.Builder
	n.draw(&text, 1)
	return text.String()
}

func (n *node) draw(text *strings.Builder, depth int) {
	fmt.Fprintf(text, "%"+strconv.Itoa(2*depth)+"s%s %s %s\n", "", n.Kind, n.Relation, strings.Join(n.SortKey, ","))
	for i := range n.Parts {
		n.Parts[i].draw(text, depth+1)
	}
}
