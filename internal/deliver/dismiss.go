package deliver

import (
	"context"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// MaxNote is how long the note of a dismissal may be, in characters.
const MaxNote = 500

// Failures names groups of failed deliveries: those of an endpoint, of a cause,
// or of one cause at one endpoint. One of the two is not nil.
type Failures struct {
	Endpoint *gateway.EndpointID
	Cause    *gateway.Cause
}

// Dismissal is what somebody wants to be told of no more.
type Dismissal struct {
	Failures

	// Until is when the newest failure was given up that the presser saw; zero
	// is that of the newest there is.
	Until time.Time
	Note  string
}

// Dismiss dismisses groups of failures and returns them as they are now, those
// included that were dismissed before. One that fails after Until is open again.
// gateway.ErrNotFound tells that there are none; a note that is too long is an
// InvalidError.
func (s *Service) Dismiss(ctx context.Context, account gateway.AccountID, actor gateway.Actor, d Dismissal) ([]store.FailureGroup, error) {
	switch {
	case d.Failures == (Failures{}):
		return nil, gateway.ErrNotFound
	case utf8.RuneCountInString(d.Note) > MaxNote:
		return nil, gateway.Invalid("note", "want at most %d characters", MaxNote)
	}
	filter := store.FailureFilter{Endpoint: d.Endpoint, Cause: d.Cause}
	groups, _, err := s.Store.Failures(ctx, account, filter)
	switch {
	case err != nil:
		return nil, err
	case len(groups) == 0:
		return nil, gateway.ErrNotFound
	}
	err = s.Store.InTx(ctx, func(tx store.Tx) error {
		n, err := tx.Dismiss(ctx, account, actor, d.Note, d.of(groups))
		if err != nil || n == 0 {
			return err
		}
		return tx.Audit(ctx, account, actor, "failures.dismiss", d.object(account), d.words(d.Note), s.Clock.NewID())
	})
	if err != nil {
		return nil, err
	}
	groups, _, err = s.Store.Failures(ctx, account, filter)
	return groups, err
}

// of are the dismissals of groups, each up to what was seen.
func (d Dismissal) of(groups []store.FailureGroup) []store.Dismissal {
	all := make([]store.Dismissal, len(groups))
	for i, g := range groups {
		all[i] = store.Dismissal{EndpointID: g.EndpointID, Cause: g.Cause, Until: g.Last}
		if !d.Until.IsZero() && d.Until.Before(g.Last) {
			all[i].Until = d.Until
		}
	}
	return all
}

// Restore opens dismissed groups of failures again and returns how many
// dismissals these were: none the second time.
func (s *Service) Restore(ctx context.Context, account gateway.AccountID, actor gateway.Actor, f Failures) (n int, err error) {
	if f == (Failures{}) {
		return 0, gateway.ErrNotFound
	}
	err = s.Store.InTx(ctx, func(tx store.Tx) error {
		if n, err = tx.Restore(ctx, account, f.Endpoint, f.Cause); err != nil || n == 0 {
			return err
		}
		return tx.Audit(ctx, account, actor, "failures.restore", f.object(account), f.words(""), s.Clock.NewID())
	})
	return n, err
}

// object is what the audit log names: the endpoint, or the account of a cause.
func (f Failures) object(account gateway.AccountID) string {
	if f.Endpoint != nil {
		return f.Endpoint.String()
	}
	return account.String()
}

// words say to the audit log which failures these are: "503: known outage".
func (f Failures) words(note string) string {
	text := "all causes"
	if f.Cause != nil {
		switch {
		case f.Cause.ErrorKind != "":
			text = string(f.Cause.ErrorKind)
		case f.Cause.StatusCode != 0:
			text = "HTTP " + strconv.Itoa(f.Cause.StatusCode)
		default:
			text = string(gateway.OutcomeUnknown)
		}
	}
	if note == "" {
		return text
	}
	return text + ": " + note
}
