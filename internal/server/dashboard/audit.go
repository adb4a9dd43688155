package dashboard

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/rowlock/rowlock/internal/account"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/server/body"
	"github.com/rowlock/rowlock/internal/store"
	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/layout"
	"github.com/rowlock/rowlock/web/page"
)

const (
	paramActor  = "actor"
	paramArea   = "area"
	paramObject = "object"

	outcomeDone    = "done"
	outcomeRefused = "refused"

	// auditRange is the period of the log whose address names none.
	auditRange = "7d"
)

func addAuditRoutes(r router) {
	r.needs(gateway.PermAudit, get, "/audit", audited(accountAudit, showAudit))
	r.needs(gateway.PermAudit, get, "/audit/export", audited(accountAudit, exportAudit))
	r.instance(get, "/audit", audited(instanceAudit, showAudit))
	r.instance(get, "/audit/export", audited(instanceAudit, exportAudit))
}

// auditLog is a log that a page shows: an account's, or the instance's.
type auditLog struct {
	path, section, title, lede string
	areas                      []string
	// actors are those who can have done something, as a filter offers them.
	actors func() ([]component.Option, error)
	read   func(context.Context, store.AuditFilter, store.Page[gateway.AuditID]) ([]gateway.AuditEntry, error)
}

func audited(of func(*visit) auditLog, do func(*visit, auditLog) error) handler {
	return func(v *visit) error { return do(v, of(v)) }
}

func accountAudit(v *visit) auditLog {
	return auditLog{
		path: v.at("audit"), section: layout.SectionAudit, title: "Audit log",
		lede:  "Who did what, from where, and who was refused. Entries cannot be changed.",
		areas: gateway.AuditAreas, actors: v.actorOptions,
		read: func(ctx context.Context, f store.AuditFilter, p store.Page[gateway.AuditID]) ([]gateway.AuditEntry, error) {
			return v.d.Store.AuditLog(ctx, v.account(), f, p)
		},
	}
}

func instanceAudit(v *visit) auditLog {
	return auditLog{
		path: "/instance/audit", section: layout.SectionOwnAudit, title: "Audit log of the instance",
		lede:  "What was done to the instance, and log-ins of its owner and of people without an account. Each account has a log of its own.",
		areas: gateway.InstanceAuditAreas,
		actors: func() ([]component.Option, error) {
			return []component.Option{{Value: string(v.actor()), Label: v.person().Name}, {Value: string(gateway.ActorRowlock), Label: "Rowlock"}}, nil
		},
		read: v.d.Store.InstanceAudit,
	}
}

// listing is the list as the address narrows it.
func (a auditLog) listing(v *visit) listing {
	return v.listing(a.path, paramActor, paramArea, paramObject, paramOutcome)
}

// auditFilter is what the list is narrowed by.
func (l listing) auditFilter() store.AuditFilter {
	f := store.AuditFilter{Actor: gateway.Actor(l.get(paramActor)), Area: l.get(paramArea), Object: l.get(paramObject)}
	if outcome := l.get(paramOutcome); outcome == outcomeDone || outcome == outcomeRefused {
		f.Refused = new(outcome == outcomeRefused)
	}
	return f
}

// showAudit is the page of an audit log.
func showAudit(v *visit, log auditLog) error {
	l := log.listing(v)
	if l.untidy {
		return v.redirect(l.address(l.query))
	}
	p, rows := l.period(auditRange), asked[gateway.AuditID](l)
	rows.Since, rows.Until = p.since, p.until
	entries, err := log.read(v.ctx(), l.auditFilter(), rows)
	if err != nil {
		return err
	}
	frame, _, err := v.frame(log.title, log.section)
	if err != nil {
		return err
	}
	view := page.Audit{
		Frame: frame, Title: log.title, Lede: log.lede, Now: v.now(), Path: l.path, Object: l.get(paramObject),
		Period: l.filter(p, "When", auditRange), Wider: l.wider(p),
		Filtered: l.has(paramActor, paramArea, paramObject, paramOutcome), Clear: l.cleared(),
		CSV: l.exported(account.AuditCSV), NDJSON: l.exported(account.AuditNDJSON),
	}
	entries, view.Newest, view.Older = shown(l, entries, func(e gateway.AuditEntry) string { return e.ID.String() })
	if view.Rows, err = v.auditRows(entries); err != nil {
		return err
	}
	return v.auditPage(l, log, view)
}

func (v *visit) auditPage(l listing, log auditLog, view page.Audit) error {
	actors, err := log.actors()
	if err != nil {
		return err
	}
	view.Actors, view.ActorText = l.choose(paramActor, actors)
	var areas []component.Option
	for _, area := range log.areas {
		areas = append(areas, component.Option{Value: area, Label: strings.ReplaceAll(area, "_", " ")})
	}
	view.Areas, view.AreaText = l.choose(paramArea, areas)
	view.Outcomes, view.OutcomeText = l.choose(paramOutcome, []component.Option{{Value: outcomeDone, Label: "Done"}, {Value: outcomeRefused, Label: "Refused"}})
	return v.page(page.AuditPage(view))
}

// choose is pick of one choice. What is chosen and not offered, such as who is no
// member any more, is shown as it stands in the address.
func (l listing) choose(name string, options []component.Option) ([]component.Option, string) {
	value := l.get(name)
	if value != "" && !slices.ContainsFunc(options, func(o component.Option) bool { return o.Value == value }) {
		options = append(options, component.Option{Value: value, Label: value})
	}
	picked, text := l.pick(name, options)
	return orAny(picked), text
}

// exported is the address of the export of all that the list is narrowed to.
func (l listing) exported(format account.AuditFormat) string {
	q := l.clone()
	q.Del(paramAfter)
	q.Set(paramFormat, string(format))
	return l.path + "/export?" + q.Encode()
}

// actorOptions are those who can have done something, as a filter offers them.
func (v *visit) actorOptions() ([]component.Option, error) {
	people, err := v.d.Accounts.Members(v.ctx(), v.account(), store.Page[gateway.UserID]{Limit: offered})
	if err != nil {
		return nil, err
	}
	var options []component.Option
	for _, m := range people {
		options = append(options, component.Option{Value: m.ID.String(), Label: m.Name})
	}
	keys, err := v.d.Accounts.Keys(v.ctx(), v.account(), store.Page[gateway.KeyID]{Limit: offered})
	for _, k := range keys {
		options = append(options, component.Option{Value: k.ID.String(), Label: "Key " + k.Name})
	}
	return append(options, component.Option{Value: string(gateway.ActorRowlock), Label: "Rowlock"}), err
}

// auditRows shows entries as lines of the list.
func (v *visit) auditRows(entries []gateway.AuditEntry) ([]page.AuditRow, error) {
	named, err := v.objectNames(entries)
	rows := make([]page.AuditRow, len(entries))
	for i, e := range entries {
		_, key := e.Actor.Key()
		row := page.AuditRow{
			ID: e.ID.String(), Who: whoActed(e), Key: key, Rowlock: e.Actor == gateway.ActorRowlock, Did: deed(e.Action),
			Area: e.Area(), Refused: e.Refused, Address: e.Address, Agent: e.Agent, Client: client(e.Agent), At: e.CreatedAt,
		}
		row.What, row.Href = v.acted(e, named)
		if row.Detail = e.Detail; row.What == e.Detail {
			row.Detail = ""
		}
		rows[i] = row
	}
	return rows, err
}

// client is a browser by its name; what is none is called as it calls itself.
func client(header string) string {
	if strings.HasPrefix(header, "Mozilla/") {
		return readAgent(header).words()
	}
	return header
}

// exportAudit answers with all that matches, as it is read.
func exportAudit(v *visit, log auditLog) error {
	l := log.listing(v)
	format := account.AuditFormat(v.QueryParam(paramFormat))
	if !format.Known() {
		format = account.AuditCSV
	}
	if err := v.d.Accounts.NoteExport(v.ctx(), v.account(), v.actor(), "audit_log", string(format)); err != nil {
		return err
	}
	p := l.period(auditRange)
	h := v.Response().Header()
	h.Set("Content-Type", format.MediaType())
	h.Set("Content-Disposition", `attachment; filename="audit-log.`+string(format)+`"`)
	v.Response().WriteHeader(http.StatusOK)
	read := func(ctx context.Context, part store.Page[gateway.AuditID]) ([]gateway.AuditEntry, error) {
		return log.read(ctx, l.auditFilter(), part)
	}
	part := store.Page[gateway.AuditID]{Since: p.since, Until: p.until}
	if err := account.ExportAudit(v.ctx(), read, part, format, body.Outflow(v.Response())); err != nil {
		panic(http.ErrAbortHandler) // so that nobody takes a part for the whole
	}
	return nil
}
