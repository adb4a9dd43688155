package api

import (
	"context"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

const (
	factList = "facts"
	// maxReports is how many reports of a subject are shown with its fact.
	maxReports = 50
)

// factView is what is known of a subject.
type factView struct {
	ID        gateway.FactID   `json:"id" example:"fct_06h1m3v9c8x7k2q5n4t6w8y0za"`
	SourceID  gateway.SourceID `json:"source_id" doc:"The source whose events tell it."`
	Subject   string           `json:"subject" example:"msg_1"`
	State     string           `json:"state" example:"delivered" doc:"What was told last."`
	Rank      *int             `json:"rank,omitempty" doc:"The state's place in the rule's order, from 0. Left out: it has none."`
	Terminal  bool             `json:"terminal" doc:"Nothing more is told of the subject."`
	Seen      []string         `json:"seen" doc:"The states that were told, in the order in which they came; the newest 1,000."`
	EventID   gateway.EventID  `json:"event_id" doc:"The event that set the state."`
	CreatedAt timestamp        `json:"created_at"`
	UpdatedAt timestamp        `json:"updated_at" doc:"When the state was set."`
}

func viewFact(f gateway.Fact) factView {
	return factView{
		ID: f.ID, SourceID: f.SourceID, Subject: f.Subject, State: f.State, Rank: f.Rank, Terminal: f.Terminal, Seen: f.Seen,
		EventID: f.EventID, CreatedAt: timestamp(f.CreatedAt), UpdatedAt: timestamp(f.UpdatedAt),
	}
}

// factDetailView is a fact with who reported what.
type factDetailView struct {
	factView

	Reports []reportView `json:"reports" doc:"The newest 50 events of the source with this subject, newest first. Those that told nothing new were refused: duplicate_fact and stale_fact."`
}

// reportView is an event that said something of a subject.
type reportView struct {
	EventID   gateway.EventID     `json:"event_id" example:"evt_06h1m3v9c8x7k2q5n4t6w8y0za"`
	State     *string             `json:"state,omitempty" example:"delivered" doc:"What it reported."`
	Status    gateway.EventStatus `json:"status" enum:"accepted,processed,ignored,duplicate_fact,stale_fact,rule_error,unresolved,no_endpoints,held"`
	Decision  string              `json:"decision,omitempty" doc:"Why, in words."`
	CreatedAt timestamp           `json:"created_at"`
}

func viewReport(e gateway.Event) reportView {
	return reportView{EventID: e.ID, State: e.State, Status: e.Status, Decision: printable(e.Decision), CreatedAt: timestamp(e.ID.Time())}
}

func (a *API) addFactRoutes() {
	register(a, route{
		method: get, path: "/facts", needs: read, status: 200,
		id: "listFacts", tag: tagFacts, summary: "List facts",
		about: "Those of new subjects come first.",
	}, a.listFacts)
	register(a, route{
		method: get, path: "/facts/{id}", needs: read, status: 200,
		id: "getFact", tag: tagFacts, summary: "Get a fact",
		about: "With the events that reported something of its subject, those that were refused included.",
	}, a.getFact)
}

type listFactsInput struct {
	PageQuery
	TimeQuery

	Source  string `query:"source" doc:"Only of this source, by id or uid."`
	Subject string `query:"subject" doc:"Only of this subject."`
	State   string `query:"state" doc:"Only in this state."`
}

func (a *API) listFacts(ctx context.Context, who caller, in *listFactsInput) (*listReply[factView], error) {
	p, err := page[gateway.FactID](factList, in.PageQuery, in.TimeQuery)
	if err != nil {
		return nil, err
	}
	if err := cleanText(in.Subject, "subject"); err != nil {
		return nil, err
	}
	if err := cleanText(in.State, "state"); err != nil {
		return nil, err
	}
	filter := store.FactFilter{Subject: in.Subject, State: in.State}
	if filter.Source, err = a.sourceFilter(ctx, who, in.Source); err != nil {
		return nil, err
	}
	facts, err := a.Store.Facts(ctx, who.account(), filter, p)
	if err != nil {
		return nil, err
	}
	return reply(factList, in.PageQuery, facts, func(f gateway.Fact) []byte { return idCursor(f.ID) }, viewFact), nil
}

// factPath is the path of an operation on one fact.
type factPath struct {
	ID string `path:"id" doc:"The fact's id."`
}

func (a *API) getFact(ctx context.Context, who caller, in *factPath) (*objectReply[factDetailView], error) {
	id, err := pathID[gateway.FactID](in.ID)
	if err != nil {
		return nil, err
	}
	fact, err := a.Store.Fact(ctx, who.account(), id)
	if err != nil {
		return nil, err
	}
	filter := store.EventFilter{Source: &fact.SourceID, Subject: fact.Subject}
	events, err := a.Store.Events(ctx, who.account(), filter, store.Page[gateway.EventID]{Limit: maxReports})
	if err != nil {
		return nil, err
	}
	detail := factDetailView{factView: viewFact(fact), Reports: make([]reportView, len(events))}
	for i := range events {
		detail.Reports[i] = viewReport(events[i])
	}
	return &objectReply[factDetailView]{detail}, nil
}
