package dashboard

import (
	"errors"
	"net/http"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/operate"
	"github.com/rowlock/rowlock/web/layout"
	"github.com/rowlock/rowlock/web/page"
)

// reportTime is how long the download of a report may take.
const reportTime = time.Hour

// downloadReport answers with all that was found, as it is read.
func downloadReport(v *visit) error {
	r, err := v.reconciliation()
	if err != nil {
		return err
	}
	if r.EmptiedAt != nil {
		return gateway.ErrExpired
	}
	if err := v.d.Accounts.NoteExport(v.ctx(), v.account(), v.actor(), "reconciliation", r.Name); err != nil {
		return err
	}
	h := v.Response().Header()
	h.Set("Content-Type", "text/csv; charset=utf-8")
	h.Set("Content-Disposition", `attachment; filename="`+r.ID.String()+`.csv"`)
	_ = http.NewResponseController(v.Response()).SetWriteDeadline(time.Now().Add(reportTime))
	v.Response().WriteHeader(http.StatusOK)
	if err := v.d.Reconcile.Report(v.ctx(), r, v.Response()); err != nil {
		panic(http.ErrAbortHandler) // so that nobody takes a part for the whole
	}
	return nil
}

// missingRequest is what sends all that a reconciliation found missing.
func missingRequest(r gateway.Reconciliation) operate.Request {
	return operate.Request{Kind: gateway.OperationReconcile, Filter: gateway.OperationFilter{Reconciliation: &r.ID}}
}

func askRedeliverMissing(v *visit) error {
	r, err := v.reconciliation()
	if err != nil {
		return err
	}
	path := v.at("reconcile", r.ID.String())
	q := page.Bulk{
		Action: path + "/redeliver", Cancel: path, Title: "Redeliver what is missing", Verb: "Redeliver", One: "delivery", Many: "deliveries",
		Text: []string{
			"Each is sent to the endpoint, oldest first and behind what comes in: again where there was a delivery, for the first time where none was made.",
			"The partner may have got some of them and not listed them: its receiver should check webhook-id. What was tried again since the comparison is left alone.",
		},
		Speed: page.SpeedOptions("0"), Heading: !v.scripted(),
	}
	request := missingRequest(r)
	if r.State != gateway.ReconciliationDone || r.EmptiedAt != nil {
		q.Refused = "The comparison is not done, or its rows were deleted."
		return v.askAgain(http.StatusOK, q.Title, layout.SectionReconcile, page.BulkAsk(q))
	}
	request.Filter.Endpoint = &r.EndpointID
	return v.askMany(http.StatusOK, layout.SectionReconcile, request, q)
}

func redeliverMissing(v *visit) error {
	r, err := v.reconciliation()
	if err != nil {
		return err
	}
	f, err := v.readForm()
	if err != nil {
		return err
	}
	path := v.at("reconcile", r.ID.String())
	if r.State != gateway.ReconciliationDone || r.EmptiedAt != nil {
		return v.refused(path, "Not started: the comparison is not done, or its rows were deleted.")
	}
	return v.startMany(f, missingRequest(r), path)
}

func askStopReconciliation(v *visit) error {
	r, err := v.reconciliation()
	if err != nil {
		return err
	}
	path := v.at("reconcile", r.ID.String())
	if !r.State.IsOpen() {
		return v.redirect(path)
	}
	return v.ask("Stop the comparison", layout.SectionReconcile, page.QuestionForm(page.Question{
		Action: path + "/stop", Cancel: path, Heading: !v.scripted(), Title: "Stop this comparison?", Submit: "Stop it",
		Text: []string{"What was found so far stays, and tells of a part only. It cannot go on later: upload the list again."},
	}))
}

func stopReconciliation(v *visit) error {
	r, err := v.reconciliation()
	if err != nil {
		return err
	}
	path := v.at("reconcile", r.ID.String())
	if _, err := v.d.Reconcile.Cancel(v.ctx(), v.account(), v.actor(), r.ID); errors.Is(err, gateway.ErrStateChanged) {
		return v.refused(path, "Not stopped: it had ended before.")
	} else if err != nil {
		return err
	}
	return v.done(path, "Stopped. What was found so far stays.")
}

func askDeleteReconciliation(v *visit) error {
	q, err := v.deletion()
	if err != nil {
		return err
	}
	return v.ask("Delete the comparison", layout.SectionReconcile, page.ReconciliationDeleteAsk(q))
}

// deletion is the question before the comparison that the address names is
// deleted.
func (v *visit) deletion() (q page.DeleteReconciliation, err error) {
	r, err := v.reconciliation()
	if err != nil {
		return q, err
	}
	rows, err := v.reconciliationRows([]gateway.Reconciliation{r})
	if err != nil {
		return q, err
	}
	path := rows[0].Href
	return page.DeleteReconciliation{Action: path + "/delete", Cancel: path, Name: rows[0].Called(), Rows: r.Rows, Heading: !v.scripted()}, nil
}

func deleteReconciliation(v *visit) error {
	q, err := v.deletion()
	if err != nil {
		return err
	}
	f, err := v.readForm()
	if err != nil {
		return err
	}
	if q.Entered = f.text(fieldName); !sameName(q.Entered, q.Name) {
		f.wrong(fieldName, "This is not the comparison’s name.")
	}
	if !f.ok() {
		q.Errors = f.errors
		return v.askAgain(http.StatusUnprocessableEntity, "Delete the comparison", layout.SectionReconcile, page.ReconciliationDeleteAsk(q))
	}
	r, err := v.reconciliation()
	if err != nil {
		return err
	}
	if err := v.d.Reconcile.Delete(v.ctx(), v.account(), v.actor(), r.ID); err != nil {
		return err
	}
	return v.done(v.at("reconcile"), "Comparison deleted.")
}
