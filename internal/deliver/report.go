package deliver

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

const (
	// MaxReports is how many reports one call may hold.
	MaxReports = 32
	// maxReportedHeaders, maxReportedBody and maxReportedDetail are how much of an
	// answer is kept, in bytes: as much as of our own requests.
	maxReportedHeaders, maxReportedBody, maxReportedDetail = 64 << 10, 16 << 10, 1000
)

// Report is how an order went, as the listener tells.
type Report struct {
	ID gateway.AttemptID
	// Status is the answer's; zero when none came, and Kind says why.
	Status int
	Kind   gateway.ErrorKind
	Detail string
	Header http.Header
	// Body is the beginning of the answer's.
	Body     []byte
	Duration time.Duration
	Timing   gateway.Timing
}

// Report takes a listener's reports and returns those of which it is known now how
// they went. What is not among them was given up before: it goes to the listener
// again, which tells what it knows instead of sending it twice.
// Errors: gateway.ErrNotFound; gateway.InvalidError.
func (s *Service) Report(ctx context.Context, account gateway.AccountID, id gateway.EndpointID, listener string, reports []Report) (known map[gateway.AttemptID]bool, err error) {
	if _, err := s.Store.Endpoint(ctx, account, id); err != nil {
		return nil, err
	}
	attempts := make([]gateway.Attempt, len(reports))
	seen := make(map[gateway.AttemptID]bool, len(reports))
	for i := range reports {
		if attempts[i], err = reports[i].attempt(); err != nil {
			return nil, err
		}
		if seen[reports[i].ID] {
			return nil, gateway.Invalid("reports", "tells of an attempt twice")
		}
		seen[reports[i].ID] = true
	}
	err = s.Store.InTx(ctx, func(tx store.Tx) error {
		known, err = tx.ReportRelays(ctx, account, id, listener, attempts)
		return err
	})
	return known, err
}

// attempt is what is recorded of a report.
func (r *Report) attempt() (a gateway.Attempt, err error) {
	if a.DeliveryID, a.N, err = gateway.SplitAttemptID(r.ID); err != nil {
		return a, gateway.Invalid("reports", "an id is not that of an attempt")
	}
	switch {
	case r.Kind != "" && r.Status != 0:
		return a, gateway.Invalid("reports", "want a status_code or an error_kind, not both")
	case r.Kind != "" && !slices.Contains(gateway.ErrorKinds, r.Kind):
		return a, gateway.Invalid("reports", "an error_kind is not known")
	case r.Kind != "":
		a.Outcome, a.ErrorKind = gateway.OutcomeUnreachable, r.Kind
	case r.Status < http.StatusContinue || r.Status > 599:
		return a, gateway.Invalid("reports", "want a status_code from 100 to 599, or an error_kind")
	case r.Status/100 == 2:
		a.Outcome = gateway.OutcomeSucceeded
	default:
		a.Outcome = gateway.OutcomeRejected
	}
	a.StatusCode, a.Detail, a.ResponseBody = r.Status, plain(cut(r.Detail, maxReportedDetail)), cut(r.Body, maxReportedBody)
	if a.ResponseHeaders = gateway.EncodeHeaders(r.Header); len(a.ResponseHeaders) > maxReportedHeaders {
		return a, gateway.Invalid("reports", "the headers of an answer are longer than %d bytes", maxReportedHeaders)
	}
	a.Duration, a.Timing = max(r.Duration, 0), r.Timing
	return a, nil
}

// cut is the beginning of something, no longer than most.
func cut[T string | []byte](whole T, most int) T {
	return whole[:min(len(whole), most)]
}
