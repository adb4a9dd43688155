package api

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/operate"
	"github.com/rowlock/rowlock/internal/reconcile"
	"github.com/rowlock/rowlock/internal/server/problem"
)

const (
	reconciliationList = "reconciliations"
	// rowList begins the names of the lists of what one found.
	rowList = "reconciliation rows "
)

// ReconciliationView is a partner's list that is compared with what was to be
// delivered.
type ReconciliationView struct {
	ID         gateway.ReconciliationID    `json:"id" example:"rec_06h1m3v9c8x7k2q5n4t6w8y0za"`
	EndpointID gateway.EndpointID          `json:"endpoint_id"`
	Name       string                      `json:"name" example:"billing-july.csv"`
	Match      gateway.MatchBy             `json:"match" enum:"event,key,subject" doc:"By what it is compared."`
	WithType   bool                        `json:"with_type" doc:"Types are compared, too."`
	State      gateway.ReconciliationState `json:"state" enum:"uploading,comparing,done,failed,cancelled" doc:"Failed: the list could not be read."`
	Fault      string                      `json:"fault,omitempty" doc:"Why the list could not be read."`
	Since      timestamp                   `json:"since" doc:"Events accepted from this time on are compared."`
	Until      timestamp                   `json:"until" doc:"And before this time."`
	Rows       int                         `json:"rows" doc:"How many rows were read of the list: matched, unknown and repeated together, in the end."`
	Faulty     int                         `json:"faulty" doc:"How many rows could not be read."`
	Matched    int                         `json:"matched" doc:"Rows of what was sent to the endpoint."`
	Unknown    int                         `json:"unknown" doc:"Rows of what was never sent to the endpoint."`
	Repeated   int                         `json:"repeated" doc:"Rows that stand in the list once more."`
	Compared   int                         `json:"compared" doc:"How many of our events were compared: those that were for the endpoint."`
	Missing    int                         `json:"missing" doc:"How many of these the partner does not list."`
	Sendable   int                         `json:"sendable" doc:"How many of the missing ones can be sent again at once. What is open goes out by itself."`
	Unnamed    int                         `json:"unnamed" doc:"How many of our events have no key, or no subject, by which the partner could list them."`
	CreatedAt  timestamp                   `json:"created_at"`
	UploadedAt *timestamp                  `json:"uploaded_at,omitempty" doc:"When the list had been read."`
	FinishedAt *timestamp                  `json:"finished_at,omitempty" doc:"When it was done, failed or was stopped."`
	EmptiedAt  *timestamp                  `json:"emptied_at,omitempty" doc:"When its rows were deleted; the numbers are kept."`
}

// reconciliationDetailView is one with what its numbers are made of.
type reconciliationDetailView struct {
	ReconciliationView

	Reasons map[gateway.RowReason]int `json:"missing_reasons" doc:"How many are missing for which reason, each up to 100,000."`
}

// ReconciledRowView is one thing that was found.
type ReconciledRowView struct {
	Result      gateway.RowResult   `json:"result" enum:"missing,unknown,repeated,matched,faulty"`
	Reason      gateway.RowReason   `json:"reason,omitempty" enum:"never_created,failed,failed_over,suppressed,open,held,cancelled,expired,delivered,outside,unconfirmed,no_event,other_type,other_endpoint" doc:"Of what is missing, how we stand with it. Of a match, outside: it came in outside of the range; unconfirmed: the endpoint never confirmed it to us. Of what is unknown: there is no such event, it is of another type, or it was never made for the endpoint."`
	Line        *int                `json:"line,omitempty" doc:"Where it stands in the list."`
	Key         string              `json:"key,omitempty"`
	Type        string              `json:"type,omitempty"`
	EventID     *gateway.EventID    `json:"event_id,omitempty"`
	DeliveryID  *gateway.DeliveryID `json:"delivery_id,omitempty"`
	EventStatus gateway.EventStatus `json:"event_status,omitempty" doc:"Of what was never created: how the event was decided."`
	Sendable    *bool               `json:"sendable,omitempty" doc:"Of what is missing: it can be sent again with the others."`
	Fault       string              `json:"fault,omitempty" doc:"Why the row could not be read."`
}

func viewReconciliation(r gateway.Reconciliation) ReconciliationView {
	return ReconciliationView{
		ID: r.ID, EndpointID: r.EndpointID, Name: r.Name, Match: r.MatchBy, WithType: r.WithType, State: r.State, Fault: r.Fault,
		Since: timestamp(r.Since), Until: timestamp(r.Until), Rows: r.Rows, Faulty: r.Faulty, Matched: r.Matched, Unknown: r.Unknown,
		Repeated: r.Repeated, Compared: r.Ours, Missing: r.Missing, Sendable: r.Sendable, Unnamed: r.Unnamed,
		CreatedAt: timestamp(r.CreatedAt), UploadedAt: optionalTime(r.UploadedAt), FinishedAt: optionalTime(r.FinishedAt), EmptiedAt: optionalTime(r.EmptiedAt),
	}
}

type reconcileInput struct {
	Endpoint   string `query:"endpoint" required:"true" doc:"The endpoint whose list it is, by id or uid." example:"billing"`
	Match      string `query:"match" required:"true" enum:"event,key,subject" doc:"What the list holds: event ids (webhook-id), idempotency keys, or subjects."`
	Since      moment `query:"since" required:"true" doc:"Compare events accepted from this time on (RFC 3339)."`
	Until      moment `query:"until" doc:"And before this time. Left out: until now."`
	KeyColumn  string `query:"key_column" doc:"The column of a CSV by its name, or its number from 1; the field of an NDJSON object. Left out: what is called as one would call it."`
	TypeColumn string `query:"type_column" doc:"The column that holds the event type. Left out: types are not compared."`
	Header     bool   `query:"header" default:"true" doc:"The first row of a CSV names the columns."`
	Name       string `query:"name" maxLength:"200" doc:"What you call it." example:"billing-july.csv"`
}

func (a *API) createReconciliation(ctx context.Context, who caller, in *reconcileInput, sent upload) (*objectReply[ReconciliationView], error) {
	endpoint, err := a.endpointFilter(ctx, who, in.Endpoint)
	if err != nil {
		return nil, err
	}
	if endpoint == nil {
		return nil, problem.At("query.endpoint", "name the endpoint")
	}
	r, err := a.Reconcile.Create(ctx, who.account(), who.actor(), reconcile.Input{
		Layout: reconcile.Layout{
			Format: sent.format, MatchBy: gateway.MatchBy(in.Match), KeyColumn: in.KeyColumn, TypeColumn: in.TypeColumn, NoHeader: !in.Header,
		},
		Endpoint: *endpoint, Name: in.Name, Since: time.Time(in.Since), Until: time.Time(in.Until),
	}, sent.list)
	return object(r, problem.Locate(err, func(field string) string { return "query." + field }), viewReconciliation)
}

// ReconciliationPath is the path of an operation on one reconciliation. It is
// exported for the library, which sees no others.
type ReconciliationPath struct {
	ID string `path:"id" doc:"The reconciliation's id."`
}

type listReconciliationsInput struct {
	PageQuery
}

func (a *API) listReconciliations(ctx context.Context, who caller, in *listReconciliationsInput) (*listReply[ReconciliationView], error) {
	p, err := page[gateway.ReconciliationID](reconciliationList, in.PageQuery, TimeQuery{})
	if err != nil {
		return nil, err
	}
	all, err := a.Store.Reconciliations(ctx, who.account(), p)
	if err != nil {
		return nil, err
	}
	position := func(r gateway.Reconciliation) []byte { return idCursor(r.ID) }
	return reply(reconciliationList, in.PageQuery, all, position, viewReconciliation), nil
}

// findReconciliation reads the one that a path names.
func (a *API) findReconciliation(ctx context.Context, who caller, in *ReconciliationPath) (gateway.Reconciliation, error) {
	id, err := pathID[gateway.ReconciliationID](in.ID)
	if err != nil {
		return gateway.Reconciliation{}, err
	}
	return a.Store.Reconciliation(ctx, who.account(), id)
}

func (a *API) getReconciliation(ctx context.Context, who caller, in *ReconciliationPath) (*objectReply[reconciliationDetailView], error) {
	r, err := a.findReconciliation(ctx, who, in)
	if err != nil {
		return nil, err
	}
	reasons, err := a.Store.MissingReasons(ctx, who.account(), r.ID)
	return &objectReply[reconciliationDetailView]{reconciliationDetailView{viewReconciliation(r), reasons}}, err
}

type reconciledRowsInput struct {
	ReconciliationPath
	PageQuery

	Result string `query:"result" default:"missing" enum:"missing,unknown,repeated,matched,faulty" doc:"What to list. Of what is faulty the first 100 are kept."`
	Reason string `query:"reason" enum:"never_created,failed,failed_over,suppressed,open,held,cancelled,expired,delivered" doc:"Of what is missing: only this reason."`
}

// findRows reads the one that a path names, whose rows are still there.
func (a *API) findRows(ctx context.Context, who caller, in *ReconciliationPath) (gateway.Reconciliation, error) {
	r, err := a.findReconciliation(ctx, who, in)
	if err == nil && r.EmptiedAt != nil {
		err = problem.New(problem.Expired, "The rows were deleted; the numbers are kept.")
	}
	return r, err
}

func (a *API) listReconciledRows(ctx context.Context, who caller, in *reconciledRowsInput) (*listReply[ReconciledRowView], error) {
	r, err := a.findRows(ctx, who, &in.ReconciliationPath)
	if err != nil {
		return nil, err
	}
	list := rowList + in.Result
	result := gateway.RowResult(in.Result)
	if in.Reason != "" && result != gateway.RowMissing {
		return nil, problem.At("query.reason", "goes with result=missing alone")
	}
	if result == gateway.RowMissing {
		return a.listMissing(ctx, who, list, in, r)
	}
	after, err := lineCursor(list, in.Cursor)
	if err != nil {
		return nil, err
	}
	if result == gateway.RowFaulty {
		rows, err := a.Store.FaultyRows(ctx, who.account(), r.ID, after, in.Limit+1)
		position := func(row gateway.FaultyRow) []byte { return linePosition(row.N) }
		return reply(list, in.PageQuery, rows, position, viewFaultyRow), err
	}
	rows, err := a.Store.PartnerRows(ctx, who.account(), r.ID, result, after, in.Limit+1)
	position := func(row gateway.PartnerRow) []byte { return linePosition(row.N) }
	return reply(list, in.PageQuery, rows, position, func(row gateway.PartnerRow) ReconciledRowView {
		return viewPartnerRow(r.EndpointID, row)
	}), err
}

func (a *API) listMissing(ctx context.Context, who caller, list string, in *reconciledRowsInput, r gateway.Reconciliation) (*listReply[ReconciledRowView], error) {
	p, err := page[gateway.EventID](list, in.PageQuery, TimeQuery{})
	if err != nil {
		return nil, err
	}
	rows, err := a.Store.MissingRows(ctx, who.account(), r.ID, gateway.RowReason(in.Reason), p)
	if err != nil {
		return nil, err
	}
	position := func(row gateway.MissingRow) []byte { return idCursor(row.EventID) }
	return reply(list, in.PageQuery, rows, position, viewMissingRow), nil
}

// lineBytes is how long the position in a list of lines is.
const lineBytes = 8

func linePosition(line int) []byte {
	return binary.BigEndian.AppendUint64(nil, uint64(line)) //nolint:gosec // lines are counted from 1
}

// lineCursor is the line behind which a list goes on.
func lineCursor(list, cursor string) (int, error) {
	if cursor == "" {
		return 0, nil
	}
	position, err := decodeCursor(list, cursor, lineBytes)
	if err != nil {
		return 0, err
	}
	return int(binary.BigEndian.Uint64(position)), nil //nolint:gosec // it was a line of ours
}

func viewMissingRow(m gateway.MissingRow) ReconciledRowView {
	v := ReconciledRowView{
		Result: gateway.RowMissing, Reason: m.Reason, Key: m.Key, Type: m.Type, EventID: &m.EventID, Sendable: &m.Sendable,
	}
	if m.IsMade() {
		v.DeliveryID = &m.DeliveryID
	} else {
		v.EventStatus = m.EventStatus
	}
	return v
}

func viewPartnerRow(endpoint gateway.EndpointID, row gateway.PartnerRow) ReconciledRowView {
	v := ReconciledRowView{Result: row.Result, Reason: row.Reason, Line: &row.N, Key: row.Key, Type: row.Type, EventID: row.EventID}
	if row.Result == gateway.RowMatched && row.EventID != nil {
		delivery := gateway.DeriveDeliveryID(*row.EventID, endpoint)
		v.DeliveryID = &delivery
	}
	return v
}

func viewFaultyRow(row gateway.FaultyRow) ReconciledRowView {
	return ReconciledRowView{Result: gateway.RowFaulty, Line: &row.N, Fault: row.Why}
}

func (a *API) getReconciliationReport(ctx context.Context, who caller, in *ReconciliationPath) (*huma.StreamResponse, error) {
	r, err := a.findRows(ctx, who, in)
	if err == nil {
		err = a.Accounts.NoteExport(ctx, who.account(), who.actor(), "reconciliation", r.Name)
	}
	if err != nil {
		return nil, err
	}
	//nolint:contextcheck // the text is written behind the handler, whose time is over then
	return download(r.ID.String()+".csv", "text/csv; charset=utf-8", func(ctx context.Context, to io.Writer) error {
		return a.Reconcile.Report(ctx, r, to)
	}), nil
}

// redeliverMissingBody says how to send what is missing.
type redeliverMissingBody struct{ PaceBody }

func (a *API) redeliverMissing(ctx context.Context, who caller, in *ReconciliationPath, body redeliverMissingBody) (*objectReply[OperationView], error) {
	r, err := a.findReconciliation(ctx, who, in)
	if err != nil {
		return nil, err
	}
	request := body.request(gateway.OperationReconcile)
	request.Filter.Reconciliation = &r.ID
	o, err := a.startOperation(ctx, who, request)
	return object(o, err, viewOperation)
}

// startOperation starts one whose endpoint may have been deleted since.
func (a *API) startOperation(ctx context.Context, who caller, r operate.Request) (gateway.Operation, error) {
	o, err := a.Operate.Start(ctx, who.account(), who.actor(), r)
	if errors.Is(err, gateway.ErrNotFound) {
		err = gateway.ErrNotActive
	}
	return o, err
}

func (a *API) cancelReconciliation(ctx context.Context, who caller, in *ReconciliationPath, _ nothingBody) (*objectReply[ReconciliationView], error) {
	id, err := pathID[gateway.ReconciliationID](in.ID)
	if err != nil {
		return nil, err
	}
	r, err := a.Reconcile.Cancel(ctx, who.account(), who.actor(), id)
	return object(r, err, viewReconciliation)
}

func (a *API) deleteReconciliation(ctx context.Context, who caller, in *ReconciliationPath) (*empty, error) {
	id, err := pathID[gateway.ReconciliationID](in.ID)
	if err != nil {
		return nil, err
	}
	return &empty{}, a.Reconcile.Delete(ctx, who.account(), who.actor(), id)
}
