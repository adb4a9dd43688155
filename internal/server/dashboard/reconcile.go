package dashboard

import (
	"strconv"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/layout"
	"github.com/rowlock/rowlock/web/page"
)

// addReconcileRoutes adds the comparison of partners' lists.
func addReconcileRoutes(r router) {
	const one = "/reconcile/:id"
	r.within(get, "/reconcile", listReconciliations)
	r.operated(get, "/reconcile/new", newReconciliation)
	r.operated(post, "/reconcile/new", createReconciliation)
	r.within(get, one, showReconciliation)
	r.within(get, one+"/report", downloadReport)
	r.operated(get, one+"/redeliver", askRedeliverMissing)
	r.operated(post, one+"/redeliver", redeliverMissing)
	r.operated(get, one+"/stop", askStopReconciliation)
	r.operated(post, one+"/stop", stopReconciliation)
	r.operated(get, one+"/delete", askDeleteReconciliation)
	r.operated(post, one+"/delete", deleteReconciliation)
}

// paramReason narrows what is missing; paramShow chooses which kind of what was
// found is shown.
const paramReason = "reason"

// listReconciliations is the page of comparisons.
func listReconciliations(v *visit) error {
	l := v.listing(v.at("reconcile"))
	rows, err := v.d.Store.Reconciliations(v.ctx(), v.account(), asked[gateway.ReconciliationID](l))
	if err != nil {
		return err
	}
	frame, _, err := v.frame("Reconcile", layout.SectionReconcile)
	if err != nil {
		return err
	}
	frame.Live = v.live()
	view := page.Reconciliations{Frame: frame, Now: v.now()}
	if v.operates() {
		view.New = v.at("reconcile", "new")
	}
	rows, view.Newest, view.Older = shown(l, rows, func(r gateway.Reconciliation) string { return r.ID.String() })
	if view.Rows, err = v.reconciliationRows(rows); err != nil {
		return err
	}
	return v.page(page.ReconciliationsPage(view))
}

// reconciliationRows shows comparisons as lines, with what endpoints and people
// are called.
func (v *visit) reconciliationRows(all []gateway.Reconciliation) ([]page.ReconciliationRow, error) {
	endpoints, actors := make([]gateway.EndpointID, len(all)), make([]gateway.Actor, len(all))
	for i, r := range all {
		endpoints[i], actors[i] = r.EndpointID, r.Actor
	}
	labels, err := v.d.Store.EndpointLabels(v.ctx(), v.account(), endpoints)
	if err != nil {
		return nil, err
	}
	names, err := v.d.Store.ActorNames(v.ctx(), v.account(), actors)
	rows := make([]page.ReconciliationRow, len(all))
	for i, r := range all {
		rows[i] = page.ReconciliationRow{
			Reconciliation: r, Href: v.at("reconcile", r.ID.String()), Endpoint: called(labels[r.EndpointID]),
			Who: actorName(gateway.AuditEntry{Actor: r.Actor, ActorName: names[r.Actor]}),
		}
	}
	return rows, err
}

// reconciliation reads the one that the address names.
func (v *visit) reconciliation() (gateway.Reconciliation, error) {
	id, err := gateway.ParseID[gateway.ReconciliationID](v.Param("id"))
	if err != nil {
		return gateway.Reconciliation{}, err
	}
	return v.d.Store.Reconciliation(v.ctx(), v.account(), id)
}

// showReconciliation is the page of one comparison.
func showReconciliation(v *visit) error {
	r, err := v.reconciliation()
	if err != nil {
		return err
	}
	rows, err := v.reconciliationRows([]gateway.Reconciliation{r})
	if err != nil {
		return err
	}
	frame, _, err := v.frame("Reconcile", layout.SectionReconcile)
	if err != nil {
		return err
	}
	frame.Live = v.liveOfReconciliation(r.ID)
	path := rows[0].Href
	view := page.Reconciliation{
		Frame: frame, ReconciliationRow: rows[0], Now: v.now(), Manages: v.operates(), KeptFrom: r.CreatedAt.Add(-v.d.Retention),
		List: v.at("reconcile"), Redeliver: path + "/redeliver", Stop: path + "/stop", Delete: path + "/delete", Report: path + "/report",
	}
	if v.operates() {
		view.New = v.at("reconcile", "new")
	}
	_, err = v.d.Store.Endpoint(v.ctx(), v.account(), r.EndpointID)
	if err == nil {
		view.EndpointHref = v.at("endpoints", r.EndpointID.String())
	} else if !isMissing(err) {
		return err
	}
	if err := v.addFound(&view, r); err != nil {
		return err
	}
	return v.page(page.ReconciliationPage(view))
}

// addFound adds the list that the address asks for.
func (v *visit) addFound(view *page.Reconciliation, r gateway.Reconciliation) error {
	l := v.listing(view.Href, paramShow, paramReason)
	view.Shown = shownResult(l, r)
	for _, tab := range []struct {
		result gateway.RowResult
		text   string
		n      int
	}{
		{gateway.RowMissing, "Missing", r.Missing},
		{gateway.RowUnknown, "Unknown", r.Unknown},
		{gateway.RowRepeated, "Repeated", r.Repeated},
		{gateway.RowMatched, "Matched", r.Matched},
		{gateway.RowFaulty, "Faulty rows", r.Faulty},
	} {
		c := component.Choice{
			Text: tab.text, Href: address(view.Href, paramShow, string(tab.result)), Current: tab.result == view.Shown, Count: component.Number(tab.n),
		}
		if tab.n > 0 && tab.result != gateway.RowMatched {
			c.Tone = component.ToneBad
		}
		view.Tabs = append(view.Tabs, c)
	}
	if view.Shown == gateway.RowMissing {
		return v.addMissing(view, l, r)
	}
	return v.addListed(view, l, r)
}

// shownResult is the kind that the address asks for, or else the first that
// there is something of.
func shownResult(l listing, r gateway.Reconciliation) gateway.RowResult {
	for _, result := range gateway.RowResults {
		if string(result) == l.get(paramShow) {
			return result
		}
	}
	switch {
	case r.Missing > 0 || r.Unknown+r.Repeated == 0:
		return gateway.RowMissing
	case r.Unknown > 0:
		return gateway.RowUnknown
	}
	return gateway.RowRepeated
}

// addMissing adds what is missing, and how to narrow it.
func (v *visit) addMissing(view *page.Reconciliation, l listing, r gateway.Reconciliation) error {
	counts, err := v.d.Store.MissingReasons(v.ctx(), v.account(), r.ID)
	if err != nil {
		return err
	}
	var chosen gateway.RowReason
	for _, reason := range gateway.MissingReasons {
		current := string(reason) == l.get(paramReason)
		if current {
			chosen = reason
		}
		if n := counts[reason]; n > 0 || current {
			view.Reasons = append(view.Reasons, component.Choice{
				Text: component.Word(reason), Href: l.with(paramReason, string(reason)), Current: current, Count: component.Number(n),
			})
		}
	}
	if len(view.Reasons) > 0 {
		all := component.Choice{Text: "All", Href: l.with(paramReason), Current: chosen == ""}
		view.Reasons = append([]component.Choice{all}, view.Reasons...)
	}
	rows, err := v.d.Store.MissingRows(v.ctx(), v.account(), r.ID, chosen, asked[gateway.EventID](l))
	if err != nil {
		return err
	}
	rows, view.Newest, view.Older = shown(l, rows, func(m gateway.MissingRow) string { return m.EventID.String() })
	for _, m := range rows {
		row := page.MissingRow{MissingRow: m, Event: v.at("events", m.EventID.String())}
		if m.IsMade() {
			row.Delivery = v.at("deliveries", m.DeliveryID.String())
		}
		view.Missing = append(view.Missing, row)
	}
	return nil
}

// addListed adds rows of the partner's list.
func (v *visit) addListed(view *page.Reconciliation, l listing, r gateway.Reconciliation) (err error) {
	after, err := strconv.Atoi(l.get(paramAfter))
	if err != nil || after < 0 {
		after = 0
	}
	if view.Shown == gateway.RowFaulty {
		view.Faulty, err = v.d.Store.FaultyRows(v.ctx(), v.account(), r.ID, after, pageRows+1)
		view.Faulty, view.Newest, view.Older = shown(l, view.Faulty, func(row gateway.FaultyRow) string { return strconv.Itoa(row.N) })
		return err
	}
	rows, err := v.d.Store.PartnerRows(v.ctx(), v.account(), r.ID, view.Shown, after, pageRows+1)
	if err != nil {
		return err
	}
	rows, view.Newest, view.Older = shown(l, rows, func(row gateway.PartnerRow) string { return strconv.Itoa(row.N) })
	for _, row := range rows {
		view.Rows = append(view.Rows, v.partnerRow(r, row))
	}
	return nil
}

// partnerRow shows a row of the partner's list.
func (v *visit) partnerRow(r gateway.Reconciliation, row gateway.PartnerRow) page.PartnerRow {
	view := page.PartnerRow{PartnerRow: row}
	if row.EventID != nil {
		view.Event = v.at("events", row.EventID.String())
		if row.Result == gateway.RowMatched {
			view.Delivery = v.at("deliveries", gateway.DeriveDeliveryID(*row.EventID, r.EndpointID).String())
		}
	}
	return view
}
