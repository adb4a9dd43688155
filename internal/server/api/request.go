package api

import (
	"context"

	"github.com/rowlock/rowlock/internal/gateway"
)

const requestList = "requests"

// requestView is an ingest request that did not become an event.
type requestView struct {
	ID          gateway.RequestID `json:"id" example:"req_06h1m3v9c8x7k2q5n4t6w8y0za"`
	SourceID    gateway.SourceID  `json:"source_id"`
	Cause       string            `json:"cause" enum:"duplicate,handshake,signature_missing,signature_malformed,timestamp_out_of_range,signature_mismatch,address_not_allowed,body_replayed"`
	Detail      string            `json:"detail,omitempty" doc:"What was wrong, in words."`
	Header      string            `json:"header,omitempty" doc:"The header that was read, where it was refused."`
	Answered    int               `json:"answered,omitempty" doc:"The status of the answer."`
	Sender      string            `json:"sender,omitempty" doc:"The address that it came from."`
	EventID     *gateway.EventID  `json:"event_id,omitempty" doc:"The first event with the same key, for a duplicate; the first that came of it, for a request that was accepted after all."`
	AcceptedAt  *timestamp        `json:"accepted_at,omitempty" doc:"When it was accepted after all."`
	BodyDiffers bool              `json:"body_differs" doc:"A duplicate whose body is not the first one's."`
	SkewMS      *int64            `json:"skew_ms,omitempty" doc:"The sender's clock less ours, in milliseconds."`
	Method      string            `json:"method"`
	Path        string            `json:"path" doc:"What followed the token in the ingest address."`
	Query       string            `json:"query"`
	Headers     headerView        `json:"headers" doc:"Secrets left out."`
	Body        string            `json:"body" doc:"The first 64 KiB. What is not UTF-8 is replaced."`
	BodySize    int               `json:"body_size" doc:"Its whole size in bytes."`
	CreatedAt   timestamp         `json:"created_at"`
}

func viewRequest(r gateway.Request) requestView {
	return requestView{
		ID: r.ID, SourceID: r.SourceID, Cause: r.Cause, Detail: r.Detail, Header: r.Header, Answered: r.Answered, Sender: r.Sender,
		EventID: r.EventID, AcceptedAt: optionalTime(r.AcceptedAt),
		BodyDiffers: r.BodyDiffers, SkewMS: r.SkewMS, Method: r.Body.Method,
		Path: printable(string(r.Body.Path)), Query: printable(string(r.Body.Query)),
		Headers: headers(r.Body.Headers), Body: printable(string(r.Body.Data)), BodySize: r.BodySize,
		CreatedAt: timestamp(r.ID.Time()),
	}
}

type listRequestsInput struct {
	PageQuery
	TimeQuery

	ID    string `path:"id" doc:"The source's id or uid."`
	Cause string `query:"cause" enum:"duplicate,handshake,signature_missing,signature_malformed,timestamp_out_of_range,signature_mismatch,address_not_allowed,body_replayed" doc:"Only for this cause."`
}

func (a *API) listRequests(ctx context.Context, who caller, in *listRequestsInput) (*listReply[requestView], error) {
	p, err := page[gateway.RequestID](requestList, in.PageQuery, in.TimeQuery)
	if err != nil {
		return nil, err
	}
	id, err := a.sourceID(ctx, who, in.ID)
	if err != nil {
		return nil, err
	}
	if _, err := a.Store.Source(ctx, who.account(), id); err != nil {
		return nil, err
	}
	requests, err := a.Store.Requests(ctx, who.account(), id, in.Cause, p)
	if err != nil {
		return nil, err
	}
	position := func(r gateway.Request) []byte { return idCursor(r.ID) }
	return reply(requestList, in.PageQuery, requests, position, viewRequest), nil
}
