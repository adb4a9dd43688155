package reconcile

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// reportedAtOnce is how many rows of a report are in memory at once.
const reportedAtOnce = 1000

// reportHeader names the columns of a report.
var reportHeader = []string{"result", "reason", "line", "key", "type", "event_id", "delivery_id", "detail"}

// Report writes all that was found as CSV: what is missing, then what is unknown,
// repeated, faulty and matched.
func (s *Service) Report(ctx context.Context, r gateway.Reconciliation, to io.Writer) error {
	out := &report{Service: s, ctx: ctx, r: r, csv: csv.NewWriter(to)}
	out.write(slices.Clone(reportHeader))
	out.missing()
	out.listed(gateway.RowUnknown)
	out.listed(gateway.RowRepeated)
	out.faulty()
	out.listed(gateway.RowMatched)
	out.flush(nil)
	return out.err
}

// report writes until something goes wrong.
type report struct {
	*Service

	ctx context.Context //nolint:containedctx // it lives for one call
	r   gateway.Reconciliation
	csv *csv.Writer
	err error
}

// write writes a row. What it says comes from the outside, and is opened in
// spreadsheets: none of it is to be run there.
func (o *report) write(fields []string) {
	if o.err == nil {
		for i := range fields {
			fields[i] = gateway.PlainCell(fields[i])
		}
		if err := o.csv.Write(fields); err != nil {
			o.err = fmt.Errorf("write report: %w", err)
		}
	}
}

// flush hands over what was written, and notes an error of what was read.
func (o *report) flush(err error) {
	if o.csv.Flush(); o.err == nil {
		o.err = err
	}
	if err := o.csv.Error(); o.err == nil && err != nil {
		o.err = fmt.Errorf("write report: %w", err)
	}
}

func (o *report) missing() {
	page := store.Page[gateway.EventID]{Limit: reportedAtOnce}
	for more := true; more && o.err == nil; {
		rows, err := o.Store.MissingRows(o.ctx, o.r.AccountID, o.r.ID, "", page)
		for _, row := range rows {
			delivery, detail := "", string(row.EventStatus)
			if row.IsMade() {
				delivery, detail = row.DeliveryID.String(), ""
			}
			o.write([]string{string(gateway.RowMissing), string(row.Reason), "", row.Key, row.Type, row.EventID.String(), delivery, detail})
			page.Before = &row.EventID
		}
		more = len(rows) == reportedAtOnce
		o.flush(err)
	}
}

func (o *report) listed(result gateway.RowResult) {
	after := 0
	for more := true; more && o.err == nil; {
		rows, err := o.Store.PartnerRows(o.ctx, o.r.AccountID, o.r.ID, result, after, reportedAtOnce)
		for _, row := range rows {
			event, delivery := "", ""
			if row.EventID != nil {
				event = row.EventID.String()
			}
			if row.EventID != nil && row.Result == gateway.RowMatched {
				delivery = gateway.DeriveDeliveryID(*row.EventID, o.r.EndpointID).String()
			}
			o.write([]string{string(row.Result), string(row.Reason), strconv.Itoa(row.N), row.Key, row.Type, event, delivery, ""})
			after = row.N
		}
		more = len(rows) == reportedAtOnce
		o.flush(err)
	}
}

func (o *report) faulty() {
	rows, err := o.Store.FaultyRows(o.ctx, o.r.AccountID, o.r.ID, 0, gateway.MaxKeptFaults)
	for _, row := range rows {
		o.write([]string{string(gateway.RowFaulty), "", strconv.Itoa(row.N), "", "", "", "", row.Why})
	}
	o.flush(err)
}
