package dashboard

import (
	"math"
	"slices"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
	"github.com/rowlock/rowlock/web/page"
)

// overviewNumbers are what happened in a window, of which the bins are read,
// and in the one before it.
func (v *visit) overviewNumbers(w store.Window, bins []store.Bin) (page.OverviewNumbers, error) {
	var all store.Stats
	for _, b := range bins {
		all.Add(b.Stats)
	}
	before, err := v.d.Store.Totals(v.ctx(), v.account(), nil, w.Before())
	if err != nil {
		return page.OverviewNumbers{}, err
	}
	n := page.OverviewNumbers{
		Attempts: all.Attempts(), Succeeded: all.Succeeded, P95: all.P95(),
		BeforeAttempts: before.Attempts(), BeforeSucceeded: before.Succeeded, BeforeP95: before.P95(),
	}
	n.SuccessTrend, n.LatencyTrend, n.FailedTrend = trends(bins)
	if err := v.countReceived(&n, w); err != nil {
		return n, err
	}
	open, err := v.d.Store.Backlog(v.ctx(), v.account(), store.MaxWaitingCounted)
	n.Waiting, n.Held, n.WaitingMore = open.Waiting, open.Held, open.Waiting >= store.MaxWaitingCounted
	return n, err
}

// trends are the share of success, the p95 in milliseconds and the attempts
// that failed, in a few points.
func trends(bins []store.Bin) (success, latency, failed []float64) {
	per := (len(bins) + trendPoints - 1) / trendPoints
	for part := range slices.Chunk(bins, per) {
		var sum store.Stats
		for _, b := range part {
			sum.Add(b.Stats)
		}
		share := math.NaN()
		if sum.Attempts() > 0 {
			share = float64(sum.Succeeded) / float64(sum.Attempts())
		}
		p95 := math.NaN()
		if sum.P95() > 0 {
			p95 = float64(sum.P95().Milliseconds())
		}
		success, latency, failed = append(success, share), append(latency, p95), append(failed, float64(sum.Failed()))
	}
	return level(success), level(latency), failed
}

// level fills the points at which there was nothing to measure with the one
// before, and those at the beginning with the first that there is. One measure
// alone is no trend.
func level(points []float64) []float64 {
	measured := slices.DeleteFunc(slices.Clone(points), math.IsNaN)
	if len(measured) < 2 {
		return nil
	}
	last := measured[0]
	for i := range points {
		if math.IsNaN(points[i]) {
			points[i] = last
		}
		last = points[i]
	}
	return points
}

// usageStep is what usage is kept by.
const usageStep = time.Hour

// countReceived adds how many events came in. They are added up by the hour, so
// those of one hour are counted.
func (v *visit) countReceived(n *page.OverviewNumbers, w store.Window) error {
	length := w.Until.Sub(w.Since)
	if length <= usageStep {
		count, err := v.d.Store.CountEvents(v.ctx(), v.account(), w.Since, maxCounted)
		n.Received, n.ReceivedMore = int64(count), count >= maxCounted
		return err
	}
	step := max(w.Step, usageStep)
	both := store.LastSteps(v.now(), 2*int(length/step), step)
	bins, err := v.d.Store.Received(v.ctx(), v.account(), both)
	if err != nil {
		return err
	}
	half := len(bins) / 2
	for _, b := range bins[:half] {
		n.BeforeReceived += b.Events
	}
	for _, b := range bins[half:] {
		n.Received += b.Events
		n.ReceivedTrend = append(n.ReceivedTrend, float64(b.Events))
	}
	return nil
}

// troubled are the endpoints that fail or were stopped, one more than are shown
// if there are more.
func (v *visit) troubled(w store.Window) ([]page.TroubledEndpoint, error) {
	endpoints, err := v.d.Store.TroubledEndpoints(v.ctx(), v.account(), troubledRows+1)
	if err != nil || len(endpoints) == 0 {
		return nil, err
	}
	health, totals, err := v.howTheyDo(endpoints, w)
	if err != nil {
		return nil, err
	}
	rows := make([]page.TroubledEndpoint, len(endpoints))
	for i, e := range endpoints {
		rows[i] = v.troubledRow(e, health[e.ID], totals[e.ID])
	}
	return rows, nil
}

func (v *visit) troubledRow(e gateway.Endpoint, h store.Health, y store.Stats) page.TroubledEndpoint {
	row := page.TroubledEndpoint{
		Name: endpointName(e), Address: page.EndpointAddress(e.URL), Path: v.at("endpoints", e.ID.String()),
		State: "failing", Reason: e.DisabledReason, Since: e.StateChangedAt,
		Attempts: y.Attempts(), Succeeded: y.Succeeded, Waiting: h.Waiting, WaitingMore: h.Waiting >= store.MaxWaitingCounted,
	}
	if last := h.LastFailure(); last != nil {
		row.Code = last.StatusCode
		row.Failure, row.Tone = failure(last.Outcome, last.Cause())
	}
	if e.State == gateway.EndpointDisabled {
		row.State = string(gateway.EndpointDisabled)
	}
	if e.FailingSince != nil {
		row.Since = *e.FailingSince
	}
	for _, a := range h.Recent {
		row.Recent = append(row.Recent, a.Outcome)
	}
	return row
}
