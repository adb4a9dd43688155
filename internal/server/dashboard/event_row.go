package dashboard

import (
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/page"
)

// eventRows shows events as lines of a list: how far each got, and where it
// came from, with one question for all of them.
func (v *visit) eventRows(events []gateway.Event) ([]page.EventRow, error) {
	ids := make([]gateway.EventID, len(events))
	sources := make([]gateway.SourceID, len(events))
	for i, e := range events {
		ids[i], sources[i] = e.ID, e.SourceID
	}
	progress, err := v.d.Store.Progress(v.ctx(), v.account(), ids)
	if err != nil {
		return nil, err
	}
	copies, err := v.d.Store.Copies(v.ctx(), v.account(), ids)
	if err != nil {
		return nil, err
	}
	labels, err := v.d.Store.SourceLabels(v.ctx(), v.account(), sources)
	if err != nil {
		return nil, err
	}
	rows := make([]page.EventRow, len(events))
	for i, e := range events {
		p := progress[e.ID]
		rows[i] = page.EventRow{
			ID: e.ID.String(), Href: v.at("events", e.ID.String()), Type: e.Type, Status: overall(e.Status, p),
			Source: v.sourceRef(e.SourceID, labels[e.SourceID]),
			Done:   p.Delivered, Total: p.Total, Copies: copiesText(copies[e.ID]), ReceivedAt: e.ID.Time(),
			Open: e.Status == gateway.EventAccepted || p.Open > p.Held,
		}
		rows[i].Note, rows[i].NextAt = nextStep(e, p, v.now())
	}
	return rows, nil
}

// copiesText is how often an event came again; empty for never.
func copiesText(n int) string {
	if n >= store.MaxCopiesCounted {
		return component.Number(n) + " or more"
	}
	return countText(n, n)
}

func (v *visit) sourceRef(id gateway.SourceID, l store.SourceLabel) page.SourceRef {
	ref := page.SourceRef{Name: l.Name, Kind: l.Kind}
	if !l.Deleted && l.Name != "" {
		ref.Href = v.at("sources", id.String())
	}
	return ref
}

// overall is an event's status as people ask for it: whether it arrived. What
// was given up comes first, then what is tried again, then what waits.
func overall(status gateway.EventStatus, p store.Progress) string {
	if p := p.Overall(); p != "" {
		return string(p)
	}
	return string(status)
}

// nextStep says what comes next of an event, with the time of the next attempt
// if there is one.
func nextStep(e gateway.Event, p store.Progress, now time.Time) (string, *time.Time) {
	switch {
	case p.Total == 0:
		return withoutDelivery(e), nil
	case p.NextAttemptAt != nil && p.NextAttemptAt.After(now):
		return "next in", p.NextAttemptAt
	case p.Open > p.Held:
		return "due now", nil
	case p.Failed > 0:
		return component.Number(p.Failed) + " given up", nil
	case p.Held > 0:
		return component.Number(p.Held) + " held", nil
	case p.Suppressed == p.Total:
		return "told before", nil
	}
	return "", nil
}

// withoutDelivery says why an event has no delivery.
func withoutDelivery(e gateway.Event) string {
	switch e.Status {
	case gateway.EventAccepted:
		return "being decided"
	case gateway.EventNoEndpoints:
		return "nobody asked for it"
	case gateway.EventHeld:
		return "its source is paused"
	case gateway.EventDuplicateFact:
		return "told before"
	case gateway.EventStaleFact:
		return "newer is known"
	case gateway.EventIgnored:
		return "nothing to be sent"
	case gateway.EventProcessed:
		return "not sent to anybody"
	default:
		return component.Shorten(e.Decision, shownDecision)
	}
}

// shownDecision is how much of a decision's words a line shows, in characters.
const shownDecision = 60
