package store

import (
	"strconv"
	"strings"

	"github.com/rowlock/rowlock/internal/gateway"
)

// query builds a statement of fixed parts whose filters are optional: every
// value is a parameter, and the text holds literals of this package only.
type query struct {
	text strings.Builder
	args []any
}

// add appends a literal and one parameter behind it.
func (q *query) add(literal string, value any) {
	q.args = append(q.args, value)
	q.text.WriteString(literal)
	q.text.WriteByte('$')
	q.text.WriteString(strconv.Itoa(len(q.args)))
}

// put appends a literal without a parameter.
func (q *query) put(literal string) { q.text.WriteString(literal) }

// addRange narrows an id to a half-open range. A side without a bound is left
// out: what is not there the planner cannot misjudge.
func addRange[I gateway.AnyID](q *query, column string, low, high I) {
	if low != (I{}) {
		q.add(` AND `+column+` >= `, low)
	}
	if high != I(maxID) {
		q.add(` AND `+column+` < `, high)
	}
}

func (q *query) sql() string { return q.text.String() }
