package dashboard

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/rowlock/rowlock/internal/decide"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/layout"
	"github.com/rowlock/rowlock/web/page"
)

const (
	// eventAttempts is how many attempts the timeline of an event has.
	eventAttempts = 100
	// eventDuplicates and eventActs are how many duplicates and acts of people
	// it has.
	eventDuplicates = 50
	eventActs       = 100
	// eventDeliveries is how many deliveries the page of an event lists.
	eventDeliveries = 200
)

// story is an event with everything that is known of it.
type story struct {
	gateway.Event

	body       gateway.Body
	source     store.SourceLabel
	deliveries []store.DeliveryRow
	attempts   []gateway.Attempt
	// earlier tells that there are attempts before these.
	earlier    bool
	duplicates []gateway.Request
	acts       []gateway.AuditEntry
	// late is the request that it came in, where that was refused at first and
	// accepted later; nil for all others, and where it is no longer kept.
	late *gateway.Request
	// unsent are who asked for it and did not want it.
	unsent []decide.Unsent
	// fact is what is known of its subject, where it reported something; nil for
	// nothing.
	fact *gateway.Fact
	// claims are those of the deliveries of a single-fire type.
	claims map[gateway.ClaimID]gateway.Claim
}

// showEvent is the page of one event.
func showEvent(v *visit) error {
	event, err := v.event()
	if err != nil {
		return err
	}
	s, err := v.story(event)
	if err != nil {
		return err
	}
	frame, _, err := v.frame(event.Type, layout.SectionEvents)
	if err != nil {
		return err
	}
	view := v.eventView(s)
	if view.Open {
		frame.Live = v.live()
	}
	view.Frame = frame
	if view.Request, err = v.requestOf(s); err != nil {
		return err
	}
	if view.Related, err = v.related(event); err != nil {
		return err
	}
	return v.page(page.EventPage(view))
}

// eventView shows everything that is known of an event.
func (v *visit) eventView(s story) page.Event {
	progress, id, list := progressOf(s.deliveries), s.ID.String(), v.at("events")
	view := page.Event{
		Now: v.now(), ID: id, Path: v.at("events", id), List: list, Type: s.Type,
		Status: overall(s.Status, progress), Source: v.sourceRef(s.SourceID, s.source),
		ReceivedAt: s.ID.Time(), OccurredAt: s.OccurredAt, Key: string(s.Key),
		Duplicates: countText(len(s.duplicates), eventDuplicates),
		Decision:   v.decisionView(s), Deliveries: v.deliveryLines(s), Unsent: v.unsentLines(s), Reached: reached(s.Event, progress, len(s.deliveries)),
		Steps: v.steps(s), Earlier: s.earlier, Payload: v.payloadView(s), Manages: v.operates(),
		Open: s.Status == gateway.EventAccepted || progress.Open > progress.Held,
	}
	view.Signature, view.SignatureText = signatureView(s)
	view.TraceID = s.Span.TraceID()
	view.ReceivedType, view.State, view.FactHref = valueOf(s.ReceivedType), valueOf(s.State), v.factHref(s)
	if s.Subject != nil {
		view.Subject, view.SubjectHref = *s.Subject, v.listing(list).with("subject", *s.Subject)
	}
	view.KeyHref = v.listing(list).with("key", string(s.Key))
	return view
}

// event reads the event in the address. One whose retention is over is told
// with the day it came in.
func (v *visit) event() (gateway.Event, error) {
	id, err := gateway.ParseID[gateway.EventID](v.Param("id"))
	if err != nil {
		return gateway.Event{}, err
	}
	event, err := v.d.Store.Event(v.ctx(), v.account(), id)
	if errors.Is(err, gateway.ErrExpired) {
		return event, v.expired("event", id.Time())
	}
	return event, err
}

// expired says that something is not kept any more.
func (v *visit) expired(what string, since time.Time) error {
	return &Refusal{
		Status: http.StatusGone, Title: "This " + what + " is no longer kept",
		Text: fmt.Sprintf("It is of %s, and what comes in is kept for %s. What came later is still there.",
			since.UTC().Format("2 January 2006"), days(v.d.Retention)),
	}
}

// days is a length of time in days.
func days(d time.Duration) string {
	return component.Plural(int(d/(24*time.Hour)), "day", "days")
}

// story reads everything about an event: a bounded part of each kind.
func (v *visit) story(event gateway.Event) (s story, err error) {
	s.Event = event
	if s.body, err = v.d.Store.Body(v.ctx(), v.account(), event.ID); err != nil && !errors.Is(err, gateway.ErrPayloadGone) {
		return s, err
	}
	labels, err := v.d.Store.SourceLabels(v.ctx(), v.account(), []gateway.SourceID{event.SourceID})
	if err != nil {
		return s, err
	}
	s.source = labels[event.SourceID]
	s.deliveries, err = v.d.Store.DeliveryRows(v.ctx(), v.account(), store.DeliveryFilter{Event: &event.ID}, store.Page[gateway.DeliveryID]{Limit: eventDeliveries})
	if err != nil {
		return s, err
	}
	if s.attempts, s.earlier, err = v.d.Store.EventAttempts(v.ctx(), v.account(), event.ID, eventAttempts); err != nil {
		return s, err
	}
	if s.duplicates, err = v.d.Store.EventRequests(v.ctx(), v.account(), event.ID, eventDuplicates+1); err != nil {
		return s, err
	}
	if s.late, err = v.lateRequest(event); err != nil {
		return s, err
	}
	if s.acts, err = v.d.Store.AuditOf(v.ctx(), v.account(), s.objects(), eventActs); err != nil {
		return s, err
	}
	if s.fact, err = v.factOf(event); err != nil {
		return s, err
	}
	if s.claims, err = v.claimsOf(s.deliveries); err != nil {
		return s, err
	}
	s.unsent, err = v.unsent(s)
	return s, err
}

// objects are the ids under which the audit log knows the event.
func (s story) objects() []string {
	ids := []string{s.ID.String()}
	if s.late != nil {
		ids = append(ids, s.late.ID.String())
	}
	for _, d := range s.deliveries {
		ids = append(ids, d.ID.String())
	}
	return ids
}

// gone tells that there is no payload any more.
func (s story) gone() bool { return s.PayloadDeletedAt != nil }

// progressOf is how far an event got, from its deliveries.
func progressOf(deliveries []store.DeliveryRow) (p store.Progress) {
	for _, d := range deliveries {
		if d.Status == gateway.DeliveryFailed && d.FailoverTo != nil {
			continue
		}
		p.Total++
		failedBefore := d.LastOutcome != nil && *d.LastOutcome != gateway.OutcomeSucceeded
		switch d.Status {
		case gateway.DeliveryDelivered:
			p.Delivered++
		case gateway.DeliveryFailed:
			p.Failed++
		case gateway.DeliveryHeld:
			p.Open++
			p.Held++
		case gateway.DeliveryPending, gateway.DeliverySending:
			p.Open++
			if failedBefore {
				p.Retrying++
			}
		case gateway.DeliverySuppressed:
			p.Suppressed++
		case gateway.DeliveryCancelled, gateway.DeliveryExpired:
		}
	}
	return p
}

// reached says how many endpoints have the event, of those that are to have it:
// more are listed when some of them failed over.
func reached(e gateway.Event, p store.Progress, listed int) string {
	switch {
	case p.Total == 0 && e.Status == gateway.EventAccepted:
		return "Being decided"
	case p.Total == 0:
		return "None"
	case p.Delivered == p.Total && listed > p.Total:
		return "It has arrived, by failover"
	case p.Suppressed == p.Total:
		return "The fact had been told before"
	case listed == eventDeliveries:
		return "The newest " + component.Number(listed)
	case p.Delivered == p.Total && p.Total == 1:
		return "The endpoint has it"
	case p.Delivered == p.Total:
		return "All " + component.Number(p.Total) + " endpoints have it"
	default:
		return component.Number(p.Delivered) + " of " + component.Plural(p.Total, "endpoint has it", "endpoints have it")
	}
}

// countText is a number that was counted up to a bound; empty for none.
func countText(n, bound int) string {
	switch {
	case n == 0:
		return ""
	case n > bound:
		return "more than " + component.Number(bound)
	default:
		return component.Number(n)
	}
}

// signatureView says whether it is known who sent the event.
func signatureView(s story) (state, text string) {
	switch {
	case s.source.Kind == gateway.SourceKindAPI:
		return "verified", "API key"
	case s.SecretID != nil && kindOf(s.source.Kind).Bare:
		return "verified", "Secret matched"
	case s.SecretID != nil:
		return "verified", "Verified"
	default:
		return "none", "Not verified"
	}
}

// said is a decision's words as a sentence before another one.
func said(decision string) string {
	if decision == "" {
		return ""
	}
	return sentence(decision) + " "
}
