package dashboard

import (
	"errors"
	"strings"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
	"github.com/rowlock/rowlock/web/layout"
	"github.com/rowlock/rowlock/web/page"
)

const (
	lanesPath = "/instance/lanes"
	// shownLanes is how many lanes the page shows.
	shownLanes = 100
	// shownSilent is how many of those it shows that nothing will wake.
	shownSilent = 20
)

func showLanes(v *visit) error {
	view := page.Lanes{Now: v.now()}
	if err := errors.Join(v.lanes(&view), v.laneNodes(&view), v.laneJobs(&view)); err != nil {
		return err
	}
	if v.d.Jobs != nil {
		view.Console = jobsPath + "/"
	}
	var err error
	if view.Frame, _, err = v.frame("Lanes and jobs", layout.SectionLanes); err != nil {
		return err
	}
	return v.page(page.LanesPage(view))
}

// lanes counts the lanes and shows the first of them.
func (v *visit) lanes(view *page.Lanes) error {
	counts, err := v.d.Store.CountLanes(v.ctx())
	if err != nil {
		return err
	}
	silent, err := v.d.Store.SilentLanes(v.ctx(), shownSilent)
	if err != nil {
		return err
	}
	busy, err := v.d.Store.LaneStates(v.ctx(), shownLanes)
	if err != nil {
		return err
	}
	own, err := v.ownPaths()
	if err != nil {
		return err
	}
	view.Held, view.Sleeping, view.Waiting, view.Stuck = counts.Held, counts.Sleeping, counts.Waiting, counts.Stuck+len(silent)
	for _, lane := range append(silent, busy...) {
		view.Rows = append(view.Rows, laneRow(lane, own[lane.AccountID]))
	}
	return nil
}

func laneRow(l store.LaneState, account string) page.Lane {
	row := page.Lane{
		ID: l.EndpointID.String(), Endpoint: page.EndpointName(l.URL, l.Description), Account: l.AccountName, AccountID: l.AccountID.String(),
		HeldSince: l.HeldSince, LeasedUntil: l.LeasedUntil, WakeAt: l.WakeAt, SleepUntil: l.SleepUntil,
		Fence: l.Fence, Cap: l.InFlightCap, Most: l.MaxInFlight, FailedProbes: l.FailedProbes, TimingOut: l.TimingOut, Stuck: l.Stuck,
	}
	if l.Node != nil {
		row.Node = *l.Node
	}
	if account != "" {
		row.Path = account + "/endpoints/" + row.ID
	}
	if l.Stuck || l.Node == nil {
		row.Wake = lanesPath + "/" + row.ID + "/wake"
	}
	return row
}

func (v *visit) laneNodes(view *page.Lanes) error {
	nodes, err := v.d.Store.Nodes(v.ctx())
	for _, n := range nodes {
		view.Nodes = append(view.Nodes, page.LaneNode{
			Name: n.Name, Roles: n.Roles, Version: n.Version,
			SeenAt: n.SeenAt, SteadySince: n.SteadySince, StartedAt: n.StartedAt, Alive: n.Alive, Steady: n.Steady, Held: n.Held,
		})
		if n.Alive && strings.Contains(n.Roles, "worker") {
			view.Workers++
		}
	}
	return err
}

func (v *visit) laneJobs(view *page.Lanes) error {
	counts, err := v.d.Store.JobCounts(v.ctx())
	perState := map[string]int{}
	for _, c := range counts {
		perState[c.State] += c.Jobs
	}
	for _, c := range counts {
		view.Jobs = append(view.Jobs, page.LaneJobs{
			Queue: c.Queue, Kind: c.Kind, State: c.State, Jobs: c.Jobs, Oldest: c.Oldest, More: perState[c.State] >= store.MaxJobCount,
		})
	}
	return err
}

// wakeLane has an endpoint's lane looked at now. It may be of any account: what
// it does, a node does by itself when the alarm comes.
func wakeLane(v *visit) error {
	f, err := v.readForm()
	if err != nil {
		return err
	}
	endpoint, err := gateway.ParseID[gateway.EndpointID](v.Param("endpoint"))
	if err != nil {
		return err
	}
	account, err := gateway.ParseID[gateway.AccountID](f.text("account"))
	if err == nil {
		err = v.d.Deliver.WakeLane(v.ctx(), account, v.actor(), endpoint)
	}
	switch {
	case isMissing(err):
		return v.refused(lanesPath, "Not woken: this endpoint is gone.")
	case err != nil:
		return err
	}
	return v.done(lanesPath, "Woken. A node looks at it now; refresh in a moment.")
}
