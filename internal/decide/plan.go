package decide

import (
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// planned is what deciding a batch writes.
type planned struct {
	deliveries []store.NewDelivery
	// decisions are those that are not "processed".
	decisions []store.Decision
	// lanes are the endpoints that got work, each once.
	lanes []store.LaneRef
	usage map[store.SourceRef]store.Usage
}

// plan decides a batch: an event of a paused source is held, one that no
// endpoint asks for says so, the others go to every endpoint that does.
func plan(events []store.Undecided, paused map[gateway.SourceID]bool, candidates []store.Candidate) planned {
	p := planned{usage: map[store.SourceRef]store.Usage{}}
	byAccount := map[gateway.AccountID][]store.Candidate{}
	for _, c := range candidates {
		byAccount[c.AccountID] = append(byAccount[c.AccountID], c)
	}
	touched := map[gateway.EndpointID]bool{}
	for _, e := range events {
		if paused[e.SourceID] {
			p.decisions = append(p.decisions, store.Decision{ID: e.ID, Status: gateway.EventHeld, Reason: "the source is paused"})
			continue
		}
		p.count(e)
		if p.fanOut(e, byAccount[e.AccountID], touched) == 0 {
			p.decisions = append(p.decisions, store.Decision{ID: e.ID, Status: gateway.EventNoEndpoints, Reason: "no endpoint asks for " + e.Type})
		}
	}
	return p
}

// fanOut adds one delivery for each endpoint that asks for the event.
func (p *planned) fanOut(e store.Undecided, candidates []store.Candidate, touched map[gateway.EndpointID]bool) int {
	n := 0
	for _, c := range candidates {
		if !gateway.MatchesType(c.EventTypes, e.Type) {
			continue
		}
		n++
		p.deliveries = append(p.deliveries, store.NewDelivery{AccountID: e.AccountID, EventID: e.ID, EndpointID: c.ID})
		if !touched[c.ID] {
			touched[c.ID] = true
			p.lanes = append(p.lanes, store.LaneRef{AccountID: e.AccountID, EndpointID: c.ID})
		}
	}
	return n
}

// count meters an event, the first time that it is decided.
func (p *planned) count(e store.Undecided) {
	if e.Again {
		return
	}
	ref := store.SourceRef{AccountID: e.AccountID, SourceID: e.SourceID}
	u := p.usage[ref]
	u.Events++
	u.Bytes += int64(e.BodySize)
	p.usage[ref] = u
}
