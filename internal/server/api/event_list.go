package api

import (
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humaecho"

	"github.com/rowlock/rowlock/internal/explore"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/search"
	"github.com/rowlock/rowlock/internal/server/body"
	"github.com/rowlock/rowlock/internal/server/problem"
)

// EventQuery are the parameters that say which events are meant. It is exported
// for the library, which sees no others.
type EventQuery struct {
	Type     string `query:"type" doc:"Only this type."`
	Subject  string `query:"subject" doc:"Only this subject."`
	Key      string `query:"key" doc:"Only this idempotency key."`
	Source   string `query:"source" doc:"Only from this source, by id or uid."`
	Status   string `query:"status" enum:"accepted,processed,ignored,duplicate_fact,stale_fact,rule_error,unresolved,no_endpoints,held" doc:"Only in this status."`
	Endpoint string `query:"endpoint" doc:"Only with a delivery to this endpoint, by id or uid."`
	Progress string `query:"progress" enum:"failed,retrying,pending,delivered" doc:"Only those that got so far on their way to all of their endpoints, or to the one that is named."`
	Q        string `query:"q" maxLength:"1024" example:"$.data.id = 123" doc:"Only with this: an id, a key, a subject or a type; a text in a header or the body; or what stands at a place, such as $.data.id = 123, $.items[*].sku = \"A-1\" or header.x-request-id ~ \"7f3a\", joined by and. What no index leads to is looked for a moment: a part with few events, or with none, that has a next_cursor has looked no further than that."`
}

type listEventsInput struct {
	PageQuery
	TimeQuery
	EventQuery
}

func (a *API) listEvents(ctx context.Context, who caller, in *listEventsInput) (*listReply[EventView], error) {
	p, err := page[gateway.EventID](eventList, in.PageQuery, in.TimeQuery)
	if err != nil {
		return nil, err
	}
	q, err := a.eventQuery(ctx, who, in.EventQuery)
	if err != nil {
		return nil, err
	}
	q.Since, q.Until = p.Since, p.Until
	part, err := a.Explore.Find(ctx, who.account(), q, p.Before, in.Limit)
	if err != nil {
		return nil, err
	}
	out := whole(part.Events, viewEvent)
	if part.Next != nil {
		out.Body.NextCursor = new(encodeCursor(eventList, idCursor(*part.Next)))
	}
	return out, nil
}

func (a *API) eventQuery(ctx context.Context, who caller, in EventQuery) (q explore.Query, err error) {
	if err := errors.Join(cleanText(in.Type, "type"), cleanText(in.Subject, "subject")); err != nil {
		return q, err
	}
	q = explore.Query{Type: in.Type, Subject: in.Subject}
	if in.Key != "" {
		q.Key = []byte(in.Key)
	}
	if in.Status != "" {
		q.Statuses = []gateway.EventStatus{gateway.EventStatus(in.Status)}
	}
	if in.Progress != "" {
		q.Progress = []gateway.Progress{gateway.Progress(in.Progress)}
	}
	if q.Search, err = search.Parse(in.Q); err != nil {
		return q, problem.At("query.q", "%s", err)
	}
	if q.Source, err = a.sourceFilter(ctx, who, in.Source); err != nil {
		return q, err
	}
	q.Endpoint, err = a.endpointFilter(ctx, who, in.Endpoint)
	return q, err
}

type exportEventsInput struct {
	TimeQuery
	EventQuery

	Format   string `query:"format" enum:"ndjson,csv" default:"ndjson" doc:"ndjson: one JSON object a line. csv: a table, without payloads."`
	Payloads bool   `query:"payloads" doc:"Whether each line has the payload: as payload where it is JSON of one line, byte for byte, and as payload_base64 in every other case."`
}

// exportEvents answers with all events that are meant, as they are read.
func (a *API) exportEvents(ctx context.Context, who caller, in *exportEventsInput) (*huma.StreamResponse, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	q, err := a.eventQuery(ctx, who, in.EventQuery)
	if err != nil {
		return nil, err
	}
	p, err := page[gateway.EventID](eventList, PageQuery{}, in.TimeQuery)
	if err != nil {
		return nil, err
	}
	q.Since, q.Until = p.Since, p.Until
	export, err := a.Explore.Export(ctx, who.account(), q, explore.Format(in.Format), in.Payloads)
	if err != nil {
		return nil, err
	}
	if err := a.Accounts.NoteExport(ctx, who.account(), who.actor(), "events", export.Words()); err != nil {
		export.Close()
		return nil, err
	}
	//nolint:contextcheck // the text is written behind the handler, whose time is over then
	return outflow(export.Name(), export.MediaType(), func(ctx context.Context, to io.Writer) error {
		defer export.Close()
		return export.Write(ctx, to)
	}), nil
}

// outflow is download for a text that takes as long as it takes.
func outflow(name, mediaType string, write func(context.Context, io.Writer) error) *huma.StreamResponse {
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		hc.SetHeader("Content-Type", mediaType)
		hc.SetHeader("Content-Disposition", `attachment; filename="`+name+`"`)
		hc.SetStatus(http.StatusOK)
		if write(hc.Context(), body.Outflow(humaecho.Unwrap(hc).Response())) != nil {
			panic(http.ErrAbortHandler) // so that nobody takes a part for the whole
		}
	}}
}
