// Package reconcile compares a partner's list of what it got with what was to
// be delivered to an endpoint, so that what is missing is found now and not
// months later.
//
// A reconciliation is a row, as a bulk operation is. While the list comes in, its
// rows are stored in parts, never all in memory. Then it is compared in steps,
// each a transaction that notes what it found and moves the cursors, or does
// neither: whoever runs it, however often, and wherever it was interrupted, the
// numbers are the same.
package reconcile

import (
	"time"

	"github.com/rowlock/rowlock/internal/clock"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/rule"
	"github.com/rowlock/rowlock/internal/store"
)

const (
	// partRows is how many rows of a list are stored at once, partBytes how much
	// of their text, and partTime how long they wait for that while a slow list
	// comes in.
	partRows  = 5000
	partBytes = 1 << 20
	partTime  = 5 * time.Second
	// uploadLease is how long a list belongs to who uploads it without a sign of
	// life; then it has broken off.
	uploadLease = 2 * time.Minute
	// comparedAtOnce is how many of our events one step compares, judgedAtOnce up
	// to how many of the partner's rows.
	comparedAtOnce, judgedAtOnce = 2000, 2000
	// lease is how long a reconciliation stays with a node that does not go on.
	lease = 15 * time.Second
	// runFor is how long a job works on one reconciliation: others want to, too.
	runFor = 15 * time.Second
)

// Options are what a Service is made of.
type Options struct {
	Store *store.Store
	Clock *clock.Clock
}

// Service makes, compares and stops reconciliations.
type Service struct {
	Options

	// filters are those of endpoints, compiled.
	filters *rule.Filters
	// maxRows bounds a list.
	maxRows int
}

// New makes a Service.
func New(o Options) *Service {
	return &Service{Options: o, filters: rule.NewFilters(), maxRows: gateway.MaxReconciliationRows}
}
