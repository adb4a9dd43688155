package api

import (
	"context"
	"io"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/rowlock/rowlock/internal/account"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

const auditList = "audit-log"

// AuditView is one entry of the audit log.
type AuditView struct {
	ID        gateway.AuditID `json:"id" example:"aud_06h1m3v9c8x7k2q5n4t6w8y0za"`
	Actor     gateway.Actor   `json:"actor" example:"usr_06h1m3v9c8x7k2q5n4t6w8y0za" doc:"Who did it: the id of a person or an API key, rowlock, or provider."`
	ActorName string          `json:"actor_name" example:"Mara Lindqvist" doc:"What they are called now; empty where that is not known."`
	Action    string          `json:"action" example:"endpoint.pause" doc:"What they did. Its first word is the area."`
	Object    string          `json:"object" example:"ep_06h1m3v9c8x7k2q5n4t6w8y0za" doc:"The id of what it was done to."`
	Detail    string          `json:"detail" doc:"What is to be known besides; often empty."`
	Outcome   string          `json:"outcome" enum:"done,refused" doc:"refused: they tried and may not, and nothing was done."`
	Address   string          `json:"address" example:"203.0.113.7" doc:"The IP address that they did it from; empty where Rowlock did it by itself."`
	UserAgent string          `json:"user_agent" doc:"What their browser or program calls itself."`
	CreatedAt timestamp       `json:"created_at"`
}

func viewAudit(e gateway.AuditEntry) AuditView {
	return AuditView{
		ID: e.ID, Actor: e.Actor, ActorName: e.ActorName, Action: e.Action, Object: e.Object, Detail: e.Detail,
		Outcome: account.AuditOutcome(e), Address: e.Address, UserAgent: e.Agent, CreatedAt: timestamp(e.CreatedAt),
	}
}

// AuditQuery narrows the audit log. It is exported for the library, which sees
// no others.
type AuditQuery struct {
	Actor   string `query:"actor" maxLength:"200" doc:"Who did it: the id of a person or an API key, or rowlock."`
	Area    string `query:"area" maxLength:"200" example:"endpoint" doc:"The first word of the action."`
	Action  string `query:"action" maxLength:"200" example:"endpoint.pause" doc:"A whole action."`
	Object  string `query:"object" maxLength:"200" doc:"The id of what it was done to."`
	Outcome string `query:"outcome" enum:"done,refused" doc:"What was done, or what was tried and not let pass."`
}

func (q AuditQuery) filter() store.AuditFilter {
	f := store.AuditFilter{Actor: gateway.Actor(q.Actor), Area: q.Area, Action: q.Action, Object: q.Object}
	if q.Outcome != "" {
		f.Refused = new(q.Outcome == "refused")
	}
	return f
}

type auditInput struct {
	PageQuery
	TimeQuery
	AuditQuery
}

type auditExport struct {
	TimeQuery
	AuditQuery

	Format account.AuditFormat `query:"format" default:"ndjson" enum:"csv,ndjson" doc:"How it is written."`
}

func (a *API) addAuditRoutes() {
	register(a, route{
		method: get, path: "/audit-log", needs: gateway.PermAudit, status: 200,
		id: "listAuditLog", tag: tagAudit, summary: "List the audit log",
		about: "Every change, and every try that was refused. Entries are never changed.",
	}, a.listAudit)
	register(a, route{
		method: get, path: "/audit-log/export", needs: gateway.PermAudit, status: 200,
		id: "exportAuditLog", tag: tagAudit, summary: "Export the audit log",
		about: "All that matches in one answer, newest first, as CSV or as one JSON object a line.",
	}, a.exportAudit)
}

func (a *API) listAudit(ctx context.Context, who caller, in *auditInput) (*listReply[AuditView], error) {
	p, err := page[gateway.AuditID](auditList, in.PageQuery, in.TimeQuery)
	if err != nil {
		return nil, err
	}
	entries, err := a.Store.AuditLog(ctx, who.account(), in.filter(), p)
	if err != nil {
		return nil, err
	}
	return reply(auditList, in.PageQuery, entries, func(e gateway.AuditEntry) []byte { return idCursor(e.ID) }, viewAudit), nil
}

func (a *API) exportAudit(ctx context.Context, who caller, in *auditExport) (*huma.StreamResponse, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	part := store.Page[gateway.AuditID]{Since: time.Time(in.Since), Until: time.Time(in.Until)}
	if err := a.Accounts.NoteExport(ctx, who.account(), who.actor(), "audit_log", string(in.Format)); err != nil {
		return nil, err
	}
	//nolint:contextcheck // the text is written behind the handler, whose time is over then
	return outflow("audit-log."+string(in.Format), in.Format.MediaType(), func(ctx context.Context, to io.Writer) error {
		return account.ExportAudit(ctx, func(ctx context.Context, p store.Page[gateway.AuditID]) ([]gateway.AuditEntry, error) {
			return a.Store.AuditLog(ctx, who.account(), in.filter(), p)
		}, part, in.Format, to)
	}), nil
}
