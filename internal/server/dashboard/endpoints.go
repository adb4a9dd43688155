package dashboard

import (
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
	"github.com/rowlock/rowlock/web/layout"
	"github.com/rowlock/rowlock/web/page"
)

func listEndpoints(v *visit) error {
	l := v.listing(v.at("endpoints"))
	endpoints, err := v.d.Store.Endpoints(v.ctx(), v.account(), asked[gateway.EndpointID](l))
	if err != nil {
		return err
	}
	view := page.Endpoints{Manages: v.manages(), Operates: v.operates(), DisableAfter: v.d.Deliver.DisableAfter}
	endpoints, view.Newest, view.Older = shown(l, endpoints, func(e gateway.Endpoint) string { return e.ID.String() })
	if view.Rows, err = v.endpointRows(endpoints); err != nil {
		return err
	}
	if view.Frame, _, err = v.frame("Endpoints", layout.SectionEndpoints); err != nil {
		return err
	}
	view.Live = v.live()
	return v.page(page.EndpointsPage(view))
}

// endpointRows adds to endpoints how they do.
func (v *visit) endpointRows(endpoints []gateway.Endpoint) ([]page.EndpointRow, error) {
	if len(endpoints) == 0 {
		return nil, nil
	}
	health, totals, err := v.howTheyDo(endpoints, store.LastSteps(v.now(), int(24*time.Hour/listStep), listStep))
	if err != nil {
		return nil, err
	}
	listeners, err := v.listeners(endpoints)
	if err != nil {
		return nil, err
	}
	rows := make([]page.EndpointRow, len(endpoints))
	for i, e := range endpoints {
		rows[i] = endpointRow(e, health[e.ID], totals[e.ID], v.now())
		rows[i].Unheard = e.Kind == gateway.EndpointListen && !listeners[e.ID].Connected
	}
	return rows, nil
}

// howTheyDo reads how endpoints do now, and did within a window.
func (v *visit) howTheyDo(endpoints []gateway.Endpoint, w store.Window) (map[gateway.EndpointID]store.Health, map[gateway.EndpointID]store.Stats, error) {
	ids := make([]gateway.EndpointID, len(endpoints))
	for i := range endpoints {
		ids[i] = endpoints[i].ID
	}
	health, err := v.d.Store.EndpointHealth(v.ctx(), v.account(), ids)
	if err != nil {
		return nil, nil, err
	}
	totals, err := v.d.Store.EndpointTotals(v.ctx(), v.account(), ids, w)
	return health, totals, err
}

// listStep is how exactly the last day of a list begins: as that of an
// endpoint's own page does.
const listStep = 15 * time.Minute

func endpointRow(e gateway.Endpoint, h store.Health, day store.Stats, now time.Time) page.EndpointRow {
	row := page.EndpointRow{
		ID: e.ID, Name: endpointName(e), Address: page.EndpointAddress(e.URL),
		State: page.EndpointState(e, h.Recent, now), Types: e.EventTypes,
		Attempts: day.Attempts(), Succeeded: day.Succeeded, P95: day.P95(),
		Waiting: h.Waiting, WaitingMore: h.Waiting >= store.MaxWaitingCounted,
	}
	for _, a := range h.Recent {
		row.Recent = append(row.Recent, a.Outcome)
	}
	return row
}
