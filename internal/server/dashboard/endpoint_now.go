package dashboard

import (
	"errors"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
	"github.com/rowlock/rowlock/web/page"
)

const (
	// endpointFailureRows is how many causes an endpoint's page shows.
	endpointFailureRows = 5
	// resumedFor is how long after somebody resumed an endpoint its page offers
	// to try one of what failed before.
	resumedFor = time.Hour
)

// endpointNow is how an endpoint does at this moment.
func (v *visit) endpointNow(e gateway.Endpoint, h store.Health) (page.EndpointNow, error) {
	lane, err := v.d.Store.LaneOf(v.ctx(), v.account(), e.ID)
	if err != nil && !errors.Is(err, gateway.ErrNotFound) {
		return page.EndpointNow{}, err
	}
	const most = store.MaxWaitingCounted
	queue, err := v.d.Store.QueueOf(v.ctx(), v.account(), e.ID, most)
	now := page.EndpointNow{
		Waiting: h.Waiting, WaitingMore: h.Waiting >= most, Oldest: h.OldestWaiting,
		Due: queue.Due, DueMore: queue.Due >= most, DueSince: queue.DueSince,
		Later: queue.Later, LaterMore: queue.Later >= most, NextAt: queue.NextAt,
		Flow: lane.Flow,
	}
	for _, a := range h.Recent {
		now.Recent = append(now.Recent, a.Outcome)
	}
	if last := h.LastFailure(); last != nil {
		now.Trouble = new(last.Cause())
	}
	return now, err
}

// failoverOf names the endpoint that gets what this one could not be given.
func (v *visit) failoverOf(e gateway.Endpoint) (page.FailedEndpoint, error) {
	if e.Failover == nil {
		return page.FailedEndpoint{}, nil
	}
	labels, err := v.d.Store.EndpointLabels(v.ctx(), v.account(), []gateway.EndpointID{*e.Failover})
	return v.failedEndpoint(*e.Failover, labels[*e.Failover]), err
}

// addEndpointFailures adds what failed at the endpoint and is open.
func (v *visit) addEndpointFailures(view *page.Endpoint) error {
	e := view.Endpoint
	groups, more, err := v.d.Store.Failures(v.ctx(), v.account(), store.FailureFilter{Endpoint: &e.ID, Step: trendStep})
	if err != nil {
		return err
	}
	groups = dismissedOrNot(groups, false)
	if len(groups) == 0 {
		return nil
	}
	f := failureView{listing: listing{now: v.now()}, state: page.FailuresOpen, group: page.ByEndpoint}
	cards, _, err := v.failureCards(f, groups)
	if err != nil {
		return err
	}
	view.Failures = cards[0]
	if rows := view.Failures.Rows; len(rows) > endpointFailureRows {
		view.Failures.Rows = rows[:endpointFailureRows]
		view.Failures.Hidden += len(rows) - endpointFailureRows
	}
	view.Recover = v.recoverFailed(failed{endpoint: &e.ID, since: oldestOf(groups)})
	view.Resumed, err = v.endpointResumed(e, view.Failures.Count, more, newestOf(groups))
	return err
}

// newestOf is the delivery of the newest event of some groups.
func newestOf(groups []store.FailureGroup) gateway.DeliveryID {
	newest := groups[0].Newest[0]
	for _, g := range groups {
		if g.Newest[0].Compare(newest) > 0 {
			newest = g.Newest[0]
		}
	}
	return newest
}

// endpointResumed offers to try one of what failed before the endpoint was
// resumed; nil when it was not, or long ago.
func (v *visit) endpointResumed(e gateway.Endpoint, count int, more bool, newest gateway.DeliveryID) (*page.EndpointResumed, error) {
	resumed := e.State == gateway.EndpointActive && e.StateChangedAt.After(e.CreatedAt) && v.now().Sub(e.StateChangedAt) < resumedFor
	if !resumed || e.ConsecutiveFailures > 0 {
		return nil, nil //nolint:nilnil // there is nothing to offer
	}
	d, err := v.d.Store.Delivery(v.ctx(), v.account(), newest)
	if isMissing(err) || errors.Is(err, gateway.ErrExpired) || err == nil && d.Status != gateway.DeliveryFailed {
		return nil, nil //nolint:nilnil // it was sent again meanwhile, or is gone
	}
	return &page.EndpointResumed{
		At: e.StateChangedAt, Failed: count, More: more, Send: v.at("deliveries", newest.String(), "redeliver"), Attempts: d.Attempts,
	}, err
}
