package dashboard

import (
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
	"github.com/rowlock/rowlock/web/layout"
	"github.com/rowlock/rowlock/web/page"
)

// factReports is how many reports of a subject its page lists.
const factReports = 50

// addFactRoutes adds what events told of their subjects.
func addFactRoutes(r router) {
	r.within(get, "/facts", listFacts)
	r.within(get, "/facts/:id", showFact)
}

// listFacts is the page of all facts.
func listFacts(v *visit) error {
	l := v.listing(v.at("facts"), "subject", "state", paramSource)
	if l.untidy {
		return v.redirect(l.address(l.query))
	}
	facts, err := v.facts(l)
	if err != nil {
		return err
	}
	frame, _, err := v.frame("Facts", layout.SectionFacts)
	if err != nil {
		return err
	}
	view := page.Facts{
		Frame: frame, Now: v.now(), Path: l.path, Filtered: l.has("subject", "state", paramSource), SourcesHref: v.at("sources"),
		Subject: l.text("Subject", "subject", "What it is about, exactly."), State: l.text("State", "state", "The state that was told last, exactly."),
	}
	facts, view.Newest, view.Older = shown(l, facts, func(f gateway.Fact) string { return f.ID.String() })
	if view.Rows, err = v.factRows(facts); err != nil {
		return err
	}
	view.None = len(view.Rows) == 0 && !view.Filtered && view.Newest == ""
	sources, err := v.sourceOptions()
	if err != nil {
		return err
	}
	view.Sources, view.SourceText = l.pick(paramSource, sources)
	view.Sources = orAny(view.Sources)
	return v.page(page.FactsPage(view))
}

// facts reads a page of facts, and one more. What nothing can match reads
// nothing.
func (v *visit) facts(l listing) ([]gateway.Fact, error) {
	filter := store.FactFilter{Subject: l.get("subject"), State: l.get("state")}
	if (filter.Subject != "") != l.has("subject") || (filter.State != "") != l.has("state") {
		return nil, nil
	}
	if l.has(paramSource) {
		id, err := gateway.ParseID[gateway.SourceID](l.get(paramSource))
		if err != nil {
			return nil, nil //nolint:nilerr // no source is called so: nothing matches
		}
		filter.Source = &id
	}
	return v.d.Store.Facts(v.ctx(), v.account(), filter, asked[gateway.FactID](l))
}

// factRows shows facts as lines, with what their sources are called.
func (v *visit) factRows(facts []gateway.Fact) ([]page.FactRow, error) {
	ids := make([]gateway.SourceID, len(facts))
	for i := range facts {
		ids[i] = facts[i].SourceID
	}
	labels, err := v.d.Store.SourceLabels(v.ctx(), v.account(), ids)
	rows := make([]page.FactRow, len(facts))
	for i, f := range facts {
		rows[i] = page.FactRow{
			Href: v.at("facts", f.ID.String()), Subject: f.Subject, State: f.State, Terminal: f.Terminal,
			Source: v.sourceRef(f.SourceID, labels[f.SourceID]), EventHref: v.at("events", f.EventID.String()), EventID: f.EventID.String(),
			ToldAt: f.UpdatedAt,
		}
	}
	return rows, err
}

// showFact is the page of what is known of one subject.
func showFact(v *visit) error {
	id, err := gateway.ParseID[gateway.FactID](v.Param("id"))
	if err != nil {
		return err
	}
	fact, err := v.d.Store.Fact(v.ctx(), v.account(), id)
	if err != nil {
		return err
	}
	rows, err := v.factRows([]gateway.Fact{fact})
	if err != nil {
		return err
	}
	frame, _, err := v.frame(fact.Subject, layout.SectionFacts)
	if err != nil {
		return err
	}
	view := page.SubjectFact{
		Frame: frame, FactRow: rows[0], Now: v.now(), ID: fact.ID.String(), List: v.at("facts"), Seen: fact.Seen, FirstAt: fact.CreatedAt,
	}
	l := v.listing(v.at("events"))
	l.query.Set("subject", fact.Subject)
	view.EventsHref = l.with(paramSource, fact.SourceID.String())
	if view.Source.Href != "" {
		view.RuleHref = v.at("sources", fact.SourceID.String(), "rule")
	}
	if err := v.addReports(&view, fact); err != nil {
		return err
	}
	return v.page(page.SubjectFactPage(view))
}

// addReports adds the newest events that are about the subject.
func (v *visit) addReports(view *page.SubjectFact, fact gateway.Fact) error {
	filter := store.EventFilter{Source: &fact.SourceID, Subject: fact.Subject}
	events, err := v.d.Store.Events(v.ctx(), v.account(), filter, store.Page[gateway.EventID]{Limit: factReports + 1})
	view.More = len(events) > factReports
	for _, e := range events[:min(len(events), factReports)] {
		view.Reports = append(view.Reports, page.ReportRow{
			Href: v.at("events", e.ID.String()), State: valueOf(e.State), Status: string(e.Status), Note: reportNote(e, fact), At: e.ID.Time(),
		})
	}
	return err
}

// reportNote says why a report became what it is.
func reportNote(e gateway.Event, fact gateway.Fact) string {
	switch {
	case e.Decision != "":
		return sentence(e.Decision)
	case e.ID == fact.EventID:
		return "It set the state."
	case e.FactID != nil:
		return "It was new then."
	default:
		return ""
	}
}
