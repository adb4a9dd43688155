package dashboard

import (
	"slices"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/layout"
	"github.com/rowlock/rowlock/web/page"
)

const (
	// claimHolds, claimDeliveries and claimAttempts are how many of them the page
	// of a claim shows, the newest.
	claimHolds, claimDeliveries, claimAttempts = 50, 20, 10
	// triedDeliveries is of how many deliveries it looks for attempts.
	triedDeliveries = 5

	paramClaim = "claim"
)

// claim reads the claim that the address names.
func (v *visit) claim() (gateway.Claim, error) {
	id, err := gateway.ParseID[gateway.ClaimID](v.Param("id"))
	if err != nil {
		return gateway.Claim{}, err
	}
	return v.d.Store.Claim(v.ctx(), v.account(), id)
}

// showClaim is the page of one claim.
func showClaim(v *visit) error {
	c, err := v.claim()
	if err != nil {
		return err
	}
	sights, err := v.claimSights([]gateway.Claim{c})
	if err != nil {
		return err
	}
	name := c.Key
	if c.IsSingleFire() {
		name = c.Subject
	}
	frame, _, err := v.frame("Claim of "+component.Shorten(name, longNote), layout.SectionClaims)
	if err != nil {
		return err
	}
	if c.State != gateway.ClaimDone {
		frame.Live = v.liveOfClaims()
	}
	view, err := v.claimView(sights[0])
	if err != nil {
		return err
	}
	view.Frame = frame
	if view.Holds, view.HoldsMore, err = v.claimHolds(c); err != nil {
		return err
	}
	if c.IsSingleFire() {
		if err := v.addClaimDeliveries(c, &view); err != nil {
			return err
		}
	}
	return v.page(page.ClaimPage(view))
}

// claimView shows a claim without its holders and deliveries.
func (v *visit) claimView(s claimSight) (page.Claim, error) {
	rows, err := v.claimRows([]gateway.Claim{s.Claim})
	if err != nil {
		return page.Claim{}, err
	}
	row := rows[0]
	view := page.Claim{
		Now: v.now(), Path: row.Href, List: v.at("claims"), ID: row.ID, Key: s.Key, State: row.State, Type: s.EventType, Subject: s.Subject,
		Scope: row.Scope, ScopeHref: row.ScopeHref, Holder: row.Holder, HolderHref: row.HolderHref, Fence: s.Fence,
		ClaimedAt: s.ClaimedAt, LeaseExpiresAt: s.LeaseExpiresAt, EndedAt: s.EndedAt, Note: s.meaning(v.now()), Result: s.Result, Reclaim: row.Reclaim,
	}
	if row.Waiting != "" {
		view.Waiting = noun(row.Waiting, "delivery", "deliveries")
	}
	if s.IsSingleFire() {
		view.OnDoubt = doubtWords[s.OnDoubt]
	}
	if view.ScopeHref == "" {
		view.ScopeHref = address(view.List, paramScope, s.Scope)
	}
	if v.operates() && s.State != gateway.ClaimDone {
		view.Resolve = row.Href + "/resolve"
	}
	return view, nil
}

// doubtWords say what happens when nobody knows how it went.
var doubtWords = map[gateway.OnDoubt]string{
	gateway.OnDoubtResend: "sent again by itself",
	gateway.OnDoubtHold:   "waits for a person",
}

// noun puts a noun behind a number that is written.
func noun(number, one, many string) string {
	if number == "1" {
		return number + " " + one
	}
	return number + " " + many
}

// claimHolds are the holders of a claim, the newest first; more tells that there
// were others before.
func (v *visit) claimHolds(c gateway.Claim) (shown []page.ClaimHold, more bool, err error) {
	holds, err := v.d.Store.Holds(v.ctx(), v.account(), c.ID, claimHolds+1)
	if err != nil {
		return nil, false, err
	}
	more = len(holds) > claimHolds
	holds = holds[:min(len(holds), claimHolds)]
	actors := make([]gateway.Actor, len(holds))
	for i, h := range holds {
		actors[i] = h.Actor
	}
	names, err := v.d.Store.ActorNames(v.ctx(), v.account(), actors)
	for _, h := range holds {
		by := actorName(gateway.AuditEntry{Actor: h.Actor, ActorName: names[h.Actor]})
		shown = append(shown, v.claimHold(c, h, by))
	}
	return shown, more, err
}

func (v *visit) claimHold(c gateway.Claim, h gateway.Hold, by string) page.ClaimHold {
	view := page.ClaimHold{Fence: h.Fence, Holder: h.Holder, ClaimedAt: h.ClaimedAt, LeaseExpiresAt: h.LeaseExpiresAt, EndedAt: h.EndedAt, Why: h.Reason}
	if h.DeliveryID != nil {
		view.Holder, view.HolderHref = shortObject(h.DeliveryID.String()), v.at("deliveries", h.DeliveryID.String())
	}
	switch {
	case h.Ended == gateway.HoldCompleted:
		view.Ended, view.Tone = "Completed", component.ToneOK
	case h.Ended == gateway.HoldReleased:
		view.Ended = "Given back"
	case h.Ended == gateway.HoldReclaimed:
		view.Ended = "Reclaimed by " + by
	case h.Ended == gateway.HoldResolved:
		view.Ended, view.Tone = "Marked as done by "+by, component.ToneOK
	case h.Fence < c.Fence:
		view.Ended, view.Tone = "Its lease ended without a word; another holder followed", component.ToneWarn
	case c.IsStuck(v.now()):
		view.Ended, view.Tone = "Its lease ended without a word", component.ToneWarn
	default:
		view.Ended = "Holds it"
	}
	return view
}

// addClaimDeliveries adds the deliveries of a single-fire fact, and their newest
// attempts.
func (v *visit) addClaimDeliveries(c gateway.Claim, view *page.Claim) error {
	rows, err := v.d.Store.DeliveryRows(v.ctx(), v.account(), store.DeliveryFilter{Claim: &c.ID}, store.Page[gateway.DeliveryID]{Limit: claimDeliveries + 1})
	if err != nil {
		return err
	}
	if len(rows) > claimDeliveries {
		rows = rows[:claimDeliveries]
	}
	view.AllDeliveries = withAll(v.at("deliveries"), paramClaim, c.ID.String())
	tried := 0
	var attempts []gateway.Attempt
	for _, d := range rows {
		view.Deliveries = append(view.Deliveries, v.claimDelivery(c, d))
		if d.Attempts == 0 || tried == triedDeliveries {
			continue
		}
		tried++
		some, err := v.d.Store.Attempts(v.ctx(), v.account(), store.AttemptFilter{Delivery: &d.ID}, nil, claimAttempts)
		if err != nil {
			return err
		}
		attempts = append(attempts, some...)
	}
	slices.SortStableFunc(attempts, func(a, b gateway.Attempt) int { return b.StartedAt.Compare(a.StartedAt) })
	for _, a := range attempts[:min(len(attempts), claimAttempts)] {
		view.Attempts = append(view.Attempts, v.attemptView(a, shortObject(a.DeliveryID.String()), sending{gone: true}, false))
	}
	return nil
}

func (v *visit) claimDelivery(c gateway.Claim, d store.DeliveryRow) page.ClaimDelivery {
	line := v.deliveryLine(d.Delivery, d.Endpoint, true)
	view := page.ClaimDelivery{
		ID: line.ID, Href: line.Href, Status: line.Status, Event: d.EventID.String(), EventHref: v.at("events", d.EventID.String()),
		Code: line.Code, Failure: line.Failure, Tone: line.Tone, Attempts: d.Attempts, ReceivedAt: d.EventID.Time(),
		Endpoint: line.Endpoint, NextAt: line.NextAt,
	}
	holds := c.DeliveryID != nil && *c.DeliveryID == d.ID
	switch {
	case holds && c.State == gateway.ClaimDone:
		view.Role = "told it"
	case holds && c.State == gateway.ClaimInProgress:
		view.Role = "holds it"
	case d.WaitingOn != nil:
		view.Role = "waits for it"
	case holds && isOpen(d.Status):
		view.Role = "has the next turn"
	case holds:
		view.Role = "held it last"
	}
	return view
}
