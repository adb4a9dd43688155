package reconcile

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/rowlock/rowlock/internal/gateway"
)

// PartRows is how many rows are stored at once.
const PartRows = partRows

// SetMaxRows bounds lists to fewer rows.
func (s *Service) SetMaxRows(n int) { s.maxRows = n }

// StepOnce makes one step and leaves the reconciliation as a crash does: with its
// lease.
func (s *Service) StepOnce(ctx context.Context, account gateway.AccountID, id gateway.ReconciliationID) error {
	run, mine, err := s.Store.ClaimReconciliation(ctx, account, id, lease)
	if err != nil || !mine {
		return errors.Join(err, errors.New("it is not to be had"))
	}
	r := &runner{Service: s, run: run}
	if run.OursDone {
		return r.judgeTheirs(ctx)
	}
	return r.compareOurs(ctx)
}

// ReadAll reads a list to its end, or to where it cannot be read.
func ReadAll(text string, layout Layout) (rows []gateway.PartnerRow, faulty map[int]string, err error) {
	faulty = map[int]string{}
	l, err := open(strings.NewReader(text), layout)
	for err == nil {
		var row gateway.PartnerRow
		row, err = l.next()
		if told, ok := errors.AsType[*rowError](err); ok {
			faulty[told.n], err = told.why, nil
			continue
		}
		if err == nil {
			rows = append(rows, row)
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return rows, faulty, err
}
