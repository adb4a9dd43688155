package api

import (
	"context"
	"encoding/binary"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

const attemptList = "attempts"

// attemptView is one try of a delivery.
type attemptView struct {
	ID         gateway.AttemptID  `json:"id" example:"att_06h1m3v9c8x7k2q5n4t6w8y0za"`
	DeliveryID gateway.DeliveryID `json:"delivery_id"`
	EventID    gateway.EventID    `json:"event_id"`
	EndpointID gateway.EndpointID `json:"endpoint_id"`
	Number     int                `json:"number" doc:"1 for the first."`
	Trigger    gateway.Trigger    `json:"trigger" enum:"auto,manual,recover,test" doc:"What started it."`
	StartedAt  timestamp          `json:"started_at"`
	DurationMS float64            `json:"duration_ms" doc:"How long all of it took."`
	Timing     timingView         `json:"timing" doc:"How long its parts took; a part that did not happen is 0."`
	Outcome    gateway.Outcome    `json:"outcome" enum:"succeeded,rejected,unreachable,unknown"`
	ErrorKind  *gateway.ErrorKind `json:"error_kind,omitempty" enum:"dns,connect,tls,timeout,reset,blocked,too_large,protocol" doc:"Why no answer came."`
	Detail     string             `json:"detail,omitempty" doc:"What went wrong, in words."`
	StatusCode *int               `json:"status_code,omitempty" doc:"The answer's status, where one came."`

	RequestHeaders  headerView `json:"request_headers" doc:"What was sent, secrets left out."`
	ResponseHeaders headerView `json:"response_headers"`
	ResponseBody    string     `json:"response_body" doc:"The first 16 KiB of the answer. What is not UTF-8 is replaced."`
}

type timingView struct {
	DNSMS       float64 `json:"dns_ms" doc:"Looking the name up."`
	ConnectMS   float64 `json:"connect_ms" doc:"Connecting to the address."`
	TLSMS       float64 `json:"tls_ms" doc:"The TLS handshake."`
	FirstByteMS float64 `json:"first_byte_ms" doc:"From the request until the answer began."`
}

func viewAttempt(a gateway.Attempt) attemptView {
	return attemptView{
		ID: a.ID(), DeliveryID: a.DeliveryID, EventID: a.EventID, EndpointID: a.EndpointID,
		Number: a.N, Trigger: a.Trigger, StartedAt: timestamp(a.StartedAt), DurationMS: millis(a.Duration),
		Timing: timingView{
			DNSMS: millis(a.Timing.DNS), ConnectMS: millis(a.Timing.Connect),
			TLSMS: millis(a.Timing.TLS), FirstByteMS: millis(a.Timing.FirstByte),
		},
		Outcome: a.Outcome, ErrorKind: optional(a.ErrorKind), Detail: a.Detail, StatusCode: optional(a.StatusCode),
		RequestHeaders: headers(a.RequestHeaders), ResponseHeaders: headers(a.ResponseHeaders),
		ResponseBody: printable(string(a.ResponseBody)),
	}
}

type listAttemptsInput struct {
	PageQuery
	TimeQuery

	Endpoint string `query:"endpoint" doc:"Only to this endpoint, by id or uid."`
	Delivery string `query:"delivery" doc:"Only of this delivery."`
	Outcome  string `query:"outcome" enum:"succeeded,rejected,unreachable,unknown" doc:"Only those that ended so."`
	Kind     string `query:"error_kind" enum:"dns,connect,tls,timeout,reset,blocked,too_large,protocol" doc:"Only those to which no answer came, for this reason."`
}

func (a *API) listAttempts(ctx context.Context, who caller, in *listAttemptsInput) (*listReply[attemptView], error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	before, err := decodeAttemptCursor(in.Cursor)
	if err != nil {
		return nil, err
	}
	filter := store.AttemptFilter{Outcome: gateway.Outcome(in.Outcome), Since: time.Time(in.Since), Until: time.Time(in.Until)}
	if in.Kind != "" {
		filter.Cause = &gateway.Cause{ErrorKind: gateway.ErrorKind(in.Kind)}
	}
	if filter.Delivery, err = filterID[gateway.DeliveryID](in.Delivery, "delivery"); err != nil {
		return nil, err
	}
	if filter.Endpoint, err = a.endpointFilter(ctx, who, in.Endpoint); err != nil {
		return nil, err
	}
	attempts, err := a.Store.Attempts(ctx, who.account(), filter, before, in.Limit+1)
	if err != nil {
		return nil, err
	}
	return reply(attemptList, in.PageQuery, attempts, attemptCursor, viewAttempt), nil
}

// attemptCursorLength is a time in microseconds, an id and a number.
const attemptCursorLength = 8 + 16 + 4

// attemptCursor is an attempt's position: the list is ordered by when they
// started, which their ids do not tell.
func attemptCursor(a gateway.Attempt) []byte {
	at := make([]byte, 0, attemptCursorLength)
	at = binary.BigEndian.AppendUint64(at, uint64(a.StartedAt.UnixMicro()))
	at = append(at, a.DeliveryID[:]...)
	return binary.BigEndian.AppendUint32(at, uint32(a.N)) //nolint:gosec // at most gateway.MaxAttempts
}

func decodeAttemptCursor(text string) (*store.AttemptCursor, error) {
	if text == "" {
		return nil, nil //nolint:nilnil // the first part of the list
	}
	at, err := decodeCursor(attemptList, text, attemptCursorLength)
	if err != nil {
		return nil, err
	}
	cursor := &store.AttemptCursor{
		StartedAt: time.UnixMicro(int64(binary.BigEndian.Uint64(at))), //nolint:gosec // what it wraps to is refused
		Delivery:  gateway.DeliveryID(at[8:24]),
		N:         int(binary.BigEndian.Uint32(at[24:])),
	}
	// The check bytes are no secret: a cursor can be made up, and the database
	// would fail on a time or a number that it cannot hold.
	if cursor.N < 1 || cursor.N > gateway.MaxAttempts || !storable(cursor.StartedAt) {
		return nil, notACursor()
	}
	return cursor, nil
}

func (a *API) getAttempt(ctx context.Context, who caller, in *attemptPath) (*objectReply[attemptView], error) {
	id, err := pathID[gateway.AttemptID](in.ID)
	if err != nil {
		return nil, err
	}
	attempt, err := a.Store.Attempt(ctx, who.account(), id)
	return object(attempt, err, viewAttempt)
}

// attemptPath is the path of an operation on one attempt.
type attemptPath struct {
	ID string `path:"id" doc:"The attempt's id."`
}
