package dashboard

import (
	"slices"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/layout"
	"github.com/rowlock/rowlock/web/page"
)

const paramOperation = "operation"

// deliveryParams are what the list of deliveries is narrowed by, besides time.
var deliveryParams = append([]string{paramStatus, paramOperation, "event", paramClaim}, attemptParams...)

// listDeliveries is the page of every delivery.
func listDeliveries(v *visit) error {
	l := v.listing(v.at("deliveries"), deliveryParams...)
	if l.untidy {
		return v.redirect(l.address(l.query))
	}
	usual := usualRange
	if l.has(paramOperation, "event", paramClaim) {
		usual = rangeAll
	}
	p := l.period(usual)
	rows, err := v.deliveryList(l, p)
	if err != nil {
		return err
	}
	frame, _, err := v.frame("Deliveries", layout.SectionDeliveries)
	if err != nil {
		return err
	}
	view := page.Deliveries{SentList: v.sentList(frame, l)}
	view.Period, view.Wider, view.Filtered = l.filter(p, "Received", usual), l.wider(p), l.has(deliveryParams...)
	rows, view.Newest, view.Older = shown(l, rows, func(d store.DeliveryLine) string { return d.ID.String() })
	if view.Newest == "" {
		view.Live = v.live()
	}
	for _, row := range rows {
		view.Rows = append(view.Rows, v.deliveryRow(row))
	}
	if err := v.deliveryChoices(l, &view); err != nil {
		return err
	}
	if err := v.addBulk(l, p, &view); err != nil {
		return err
	}
	return v.page(page.DeliveriesPage(view))
}

// deliveryViews are the two lists of what is sent, narrowed alike where they
// can be.
func (v *visit) deliveryViews(l listing) []component.Choice {
	deliveries, attempts := v.at("deliveries"), v.at("attempts")
	common := listing{query: l.clone()}
	for name := range common.query {
		if !slices.Contains(attemptParams, name) && !slices.Contains(paramsOfPeriod, name) {
			delete(common.query, name)
		}
	}
	to := func(path string) string {
		common.path = path
		return common.address(common.query)
	}
	return []component.Choice{
		{Text: "Deliveries", Href: to(deliveries), Current: l.path == deliveries},
		{Text: "Every attempt", Href: to(attempts), Current: l.path == attempts},
	}
}

// deliveryList reads a page of deliveries, and one more.
func (v *visit) deliveryList(l listing, p period) ([]store.DeliveryLine, error) {
	filter, ok := l.deliveryFilter()
	if !ok {
		return nil, nil
	}
	pg := asked[gateway.DeliveryID](l)
	pg.Since, pg.Until = p.since, p.until
	return v.d.Store.DeliveryLines(v.ctx(), v.account(), filter, pg)
}

// deliveryFilter is what the list is narrowed by; not ok when nothing can
// match.
func (l listing) deliveryFilter() (f store.DeliveryFilter, ok bool) {
	attempts, ok := l.attemptFilter()
	f = store.DeliveryFilter{Endpoint: attempts.Endpoint, Outcome: attempts.Outcome, Cause: attempts.Cause}
	if status := gateway.DeliveryStatus(l.get(paramStatus)); slices.Contains(gateway.DeliveryStatuses, status) {
		f.Status = status
	}
	if id, err := gateway.ParseID[gateway.OperationID](l.get(paramOperation)); err == nil {
		f.Operation = &id
	} else if l.has(paramOperation) {
		return f, false
	}
	if id, err := gateway.ParseID[gateway.EventID](l.get("event")); err == nil {
		f.Event = &id
	} else if l.has("event") {
		return f, false
	}
	if id, err := gateway.ParseID[gateway.ClaimID](l.get(paramClaim)); err == nil {
		f.Claim = &id
	} else if l.has(paramClaim) {
		return f, false
	}
	return f, ok
}

// deliveryChoices adds what the filters offer, and what an empty page says.
func (v *visit) deliveryChoices(l listing, view *page.Deliveries) error {
	if err := v.sentChoices(l, &view.SentList); err != nil {
		return err
	}
	statuses := make([]component.Option, len(gateway.DeliveryStatuses))
	for i, s := range gateway.DeliveryStatuses {
		statuses[i] = component.Option{Value: string(s), Label: component.Word(s)}
	}
	view.Statuses, view.StatusText = l.pick(paramStatus, statuses)
	view.Statuses = orAny(view.Statuses)
	if id := l.get(paramClaim); id != "" {
		view.ClaimID = id
		view.Claim = component.Choice{Text: component.Shorten(id, 12), Href: v.at("claims", id)}
	}
	if id := l.get(paramOperation); id != "" {
		view.OperationID = id
		view.Operation = component.Choice{Text: component.Shorten(id, 12), Href: v.at("operations", id)}
	}
	if len(view.Rows) > 0 {
		return nil
	}
	first, err := v.d.Store.Deliveries(v.ctx(), v.account(), store.DeliveryFilter{}, store.Page[gateway.DeliveryID]{Limit: 1})
	view.None = len(first) == 0
	return err
}

// deliveryRow shows a delivery as a line of the list.
func (v *visit) deliveryRow(d store.DeliveryLine) page.DeliveryRow {
	line := v.deliveryLine(d.Delivery, d.Endpoint, false)
	row := page.DeliveryRow{
		ID: line.ID, Href: line.Href, Status: line.Status, Open: d.Status == gateway.DeliveryPending || d.Status == gateway.DeliverySending,
		Code: line.Code, Failure: line.Failure, Tone: line.Tone, Type: d.EventType, Event: d.EventID.String(),
		Endpoint: line.Endpoint, Host: line.Host, Attempts: d.Attempts, ReceivedAt: d.EventID.Time(), NextAt: line.NextAt,
	}
	if !v.operates() || d.Endpoint.Deleted || !d.Status.IsClosed() {
		return row
	}
	row.Selectable, row.Redeliver = true, line.Href+"/redeliver"
	if d.Status == gateway.DeliveryFailed {
		row.Recover = v.at("endpoints", d.EndpointID.String(), "recover") + "?" + sinceDelivery + "=" + line.ID
	}
	return row
}

// addBulk lets those who may choose several, and offers all that match: counted
// where there are more than the page shows.
func (v *visit) addBulk(l listing, p period, view *page.Deliveries) error {
	status := gateway.DeliveryStatus(l.get(paramStatus))
	if !v.operates() || l.has(paramOperation) && status == "" || status != "" && !status.IsClosed() {
		return nil
	}
	view.Bulk.Action = v.at("deliveries", "redeliver")
	if l.has(paramOperation) || l.has(paramClaim) {
		return nil
	}
	q := l.clone()
	q.Del(paramAfter)
	if q.Get(paramRange) == "" && p.preset != "" {
		q.Set(paramRange, p.preset)
	}
	r, ok := v.redeliverRequest(q)
	if !ok {
		return nil
	}
	n, exact := selectableRows(view.Rows), true
	if view.Older != "" || view.Newest != "" {
		var err error
		if n, exact, err = v.d.Operate.CountSome(v.ctx(), v.account(), r); err != nil {
			return ignoreFaults(err)
		}
	}
	if n == 0 {
		return nil
	}
	all := listing{path: view.Bulk.Action}
	view.Bulk.All, view.Bulk.AllText = all.address(q), allText(n, exact, status)
	return nil
}

// selectableRows is how many of a page's rows can be chosen.
func selectableRows(rows []page.DeliveryRow) (n int) {
	for _, row := range rows {
		if row.Selectable {
			n++
		}
	}
	return n
}

// ignoreFaults lets a question that cannot be asked not be offered.
func ignoreFaults(err error) error {
	if isMissing(err) || len(faultsOf(err)) > 0 {
		return nil
	}
	return err
}

// allText offers all that match.
func allText(n int, exact bool, status gateway.DeliveryStatus) string {
	number := component.Number(n)
	if !exact {
		number = "more than " + number
	}
	if status == "" {
		return "all " + number + " closed ones that match"
	}
	return "all " + number + " that match"
}
