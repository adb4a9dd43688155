package reconcile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/job"
	"github.com/rowlock/rowlock/internal/store"
)

// failTimeout bounds writing down why a list could not be read, also when who
// sent it is gone.
const failTimeout = 5 * time.Second

// Create reads a partner's list to its end and has it compared, which then goes
// on by itself. Errors: what is wrong with the input, as gateway.InvalidError;
// gateway.ErrLimitReached; gateway.ErrStateChanged when somebody stopped it
// meanwhile; a *ListError when the list cannot be read. What was begun stays, and
// says why it failed.
func (s *Service) Create(ctx context.Context, account gateway.AccountID, actor gateway.Actor, in Input, from io.Reader) (gateway.Reconciliation, error) {
	r, err := s.begin(ctx, account, actor, in)
	if err != nil {
		return r, err
	}
	if err := s.upload(ctx, r, in.Layout, from); err != nil {
		return r, s.fail(ctx, r, err)
	}
	return s.compareLater(ctx, account, r.ID)
}

// begin stores the reconciliation before anything of the list is read.
func (s *Service) begin(ctx context.Context, account gateway.AccountID, actor gateway.Actor, in Input) (gateway.Reconciliation, error) {
	if err := s.check(ctx, account, &in); err != nil {
		return gateway.Reconciliation{}, err
	}
	r := in.made(gateway.ReconciliationID(s.Clock.NewID()), actor)
	err := s.Store.InTx(ctx, func(tx store.Tx) (err error) {
		if r, err = tx.CreateReconciliation(ctx, account, r, uploadLease); err != nil {
			return err
		}
		return tx.Audit(ctx, account, actor, "reconciliation.create", r.ID.String(), r.Name, s.Clock.NewID())
	})
	return r, err
}

// compareLater says that the list has been read, with the job that compares it.
func (s *Service) compareLater(ctx context.Context, account gateway.AccountID, id gateway.ReconciliationID) (r gateway.Reconciliation, err error) {
	err = s.Store.InTx(ctx, func(tx store.Tx) error {
		wanted, err := tx.BeginComparing(ctx, account, id)
		if err != nil {
			return err
		}
		if !wanted {
			return gateway.ErrStateChanged
		}
		if r, err = tx.Reconciliation(ctx, account, id); err != nil {
			return err
		}
		return tx.Enqueue(ctx, job.Reconcile{AccountID: account, ReconciliationID: id})
	})
	return r, err
}

// upload stores a list part by part.
func (s *Service) upload(ctx context.Context, r gateway.Reconciliation, layout Layout, from io.Reader) error {
	rows, err := open(from, layout)
	if err != nil {
		return err
	}
	u := &uploader{Service: s, r: r, since: s.Clock.Now()}
	for {
		row, err := rows.next()
		if errors.Is(err, io.EOF) {
			return u.end(ctx)
		}
		if err := u.take(ctx, row, err); err != nil {
			return err
		}
	}
}

// uploader collects rows of one list until they are worth a transaction.
type uploader struct {
	*Service

	r    gateway.Reconciliation
	part store.UploadedPart
	// bytes is how much text the part holds.
	bytes int
	// rows and faulty are how many there were so far, and firstFault is the first
	// that is faulty.
	rows, faulty int
	firstFault   *rowError
	// since is when the part was begun.
	since time.Time
}

// take takes a row, or why it could not be read.
func (u *uploader) take(ctx context.Context, row gateway.PartnerRow, err error) error {
	faulty, isRow := errors.AsType[*rowError](err)
	switch {
	case isRow:
		u.addFault(faulty)
	case err != nil:
		return err
	default:
		u.rows++
		u.bytes += len(row.Key) + len(row.Type)
		u.part.Rows, u.part.Last = append(u.part.Rows, row), row.N
	}
	if u.rows+u.faulty > u.maxRows {
		return &ListError{Why: fmt.Sprintf("The list has more than %d rows: split it.", u.maxRows), TooLarge: true}
	}
	if len(u.part.Rows) < partRows && u.bytes < partBytes && u.Clock.Now().Sub(u.since) < partTime {
		return nil
	}
	return u.store(ctx)
}

func (u *uploader) addFault(faulty *rowError) {
	if u.firstFault == nil {
		u.firstFault = faulty
	}
	u.part.Faulty++
	u.part.Last = faulty.n
	if u.faulty++; u.faulty <= gateway.MaxKeptFaults {
		u.part.Faults = append(u.part.Faults, gateway.FaultyRow{N: faulty.n, Why: faulty.why})
	}
}

// store stores the part that was collected.
func (u *uploader) store(ctx context.Context) error {
	err := u.Store.InTx(ctx, func(tx store.Tx) error {
		wanted, err := tx.AddRows(ctx, u.r.AccountID, u.r.ID, u.part, uploadLease)
		if err == nil && !wanted {
			err = gateway.ErrStateChanged
		}
		return err
	})
	u.part = store.UploadedPart{Rows: u.part.Rows[:0], Last: u.part.Last}
	u.bytes, u.since = 0, u.Clock.Now()
	return err
}

// end stores the last part, and refuses a list without a row.
func (u *uploader) end(ctx context.Context) error {
	if len(u.part.Rows) > 0 || u.part.Faulty > 0 {
		if err := u.store(ctx); err != nil {
			return err
		}
	}
	switch {
	case u.rows == 0 && u.faulty > 0:
		return listFault("None of its %d rows could be read: is it the right column? The one in line %d %s.", u.faulty, u.firstFault.n, u.firstFault.why)
	case u.rows == 0:
		return listFault("The list has no rows.")
	}
	return nil
}

// fail writes down why a list could not be read, and returns what the caller is
// told. Nothing else was changed.
func (s *Service) fail(ctx context.Context, r gateway.Reconciliation, cause error) error {
	if errors.Is(cause, gateway.ErrStateChanged) || errors.Is(cause, gateway.ErrUnavailable) {
		return cause // it was stopped; or nothing can be written, and its alarm tells
	}
	why := "The upload broke off before its end."
	if told, ok := errors.AsType[*ListError](cause); ok {
		why = told.Why
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), failTimeout)
	defer cancel()
	return errors.Join(cause, s.Store.InTx(ctx, func(tx store.Tx) error {
		_, err := tx.FailReconciliation(ctx, r.AccountID, r.ID, why)
		return err
	}))
}
