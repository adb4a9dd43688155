package decide

import (
	"fmt"
	"strings"

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
	types map[store.TypeRef]int64
	// decided is every event that was, for whoever counts.
	decided []Decided
}

// plan decides a batch: an event of a paused source is held, one that its rule
// ended says why, one that no endpoint asks for says so, the others go to every endpoint that does and
// whose filter lets them through.
func plan(events []store.Undecided, paused map[gateway.SourceID]bool, ended verdicts, candidates []store.Candidate, refused refusals) planned {
	p := planned{usage: map[store.SourceRef]store.Usage{}, types: map[store.TypeRef]int64{}}
	byAccount := map[gateway.AccountID][]store.Candidate{}
	for _, c := range candidates {
		byAccount[c.AccountID] = append(byAccount[c.AccountID], c)
	}
	touched := map[gateway.EndpointID]bool{}
	for _, e := range events {
		if paused[e.SourceID] {
			p.decide(e, gateway.EventHeld, "the source is paused")
			continue
		}
		over, isOver := ended[e.ID]
		if isOver && over.status == gateway.EventAccepted {
			continue // put off, and not decided
		}
		p.count(e)
		if isOver {
			p.decide(e, over.status, over.reason)
			continue
		}
		if n, others := p.fanOut(e, byAccount[e.AccountID], refused, touched); n == 0 {
			p.decide(e, withoutEndpoints(e.Type), others.nobody(e.Type))
		} else {
			p.note(e, gateway.EventProcessed)
		}
	}
	return p
}

// decide says that an event is something else than processed, and why.
func (p *planned) decide(e store.Undecided, status gateway.EventStatus, reason string) {
	p.decisions = append(p.decisions, store.Decision{ID: e.ID, Status: status, Reason: reason})
	p.note(e, status)
}

// withoutEndpoints is what becomes of an event that nobody gets. It can be
// recovered when an endpoint is added; one of Rowlock's own is news that nobody
// asked for.
func withoutEndpoints(eventType string) gateway.EventStatus {
	if strings.HasPrefix(eventType, gateway.OwnTypePrefix) {
		return gateway.EventIgnored
	}
	return gateway.EventNoEndpoints
}

// fanOut adds one delivery for each endpoint that asks for the event and wants
// it, and tells how many there are and who else asked. What is decided again
// stands behind what is live: there may be many of them.
func (p *planned) fanOut(e store.Undecided, candidates []store.Candidate, refused refusals, touched map[gateway.EndpointID]bool) (n int, others asked) {
	for _, c := range candidates {
		if !gateway.MatchesType(c.EventTypes, e.Type) {
			continue
		}
		if reason, no := refused.refused(e.ID, c.ID); no {
			others.add(reason)
			continue
		}
		n++
		p.deliveries = append(p.deliveries, store.NewDelivery{AccountID: e.AccountID, EventID: e.ID, EndpointID: c.ID, Bulk: e.Again})
		if !touched[c.ID] {
			touched[c.ID] = true
			p.lanes = append(p.lanes, store.LaneRef{AccountID: e.AccountID, EndpointID: c.ID})
		}
	}
	return n, others
}

// asked are the endpoints that ask for an event's type and did not get it.
type asked struct {
	n int
	// failed is how many of their filters had no answer, and reason why the
	// first had none.
	failed int
	reason string
}

func (a *asked) add(reason string) {
	a.n++
	if reason == "" {
		return
	}
	if a.failed++; a.failed == 1 {
		a.reason = reason
	}
}

// nobody says why nobody gets an event of this type.
func (a *asked) nobody(eventType string) string {
	switch {
	case a.n == 0:
		return "no endpoint asks for " + eventType
	case a.n == 1 && a.failed == 1:
		return "one endpoint asks for " + eventType + ", and its filter could not be evaluated: " + a.reason
	case a.n == 1:
		return "one endpoint asks for " + eventType + ", and its filter does not match"
	}
	text := fmt.Sprintf("%d endpoints ask for %s, and the filter of none matches", a.n, eventType)
	if a.failed > 0 {
		text += fmt.Sprintf("; %d could not be evaluated, the first: %s", a.failed, a.reason)
	}
	return text
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
	p.types[store.TypeRef{AccountID: e.AccountID, Type: e.Type}]++
}
