package dashboard

import (
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/page"
)

// claimOf reads the claim of a delivery's fact; nil where there is none.
func (v *visit) claimOf(d gateway.Delivery) (*gateway.Claim, error) {
	if d.ClaimID == nil {
		return nil, nil
	}
	c, err := v.d.Store.Claim(v.ctx(), v.account(), *d.ClaimID)
	if isMissing(err) {
		return nil, nil
	}
	return &c, err
}

// waitingNote says what a delivery waits for whose fact another one holds.
func (v *visit) waitingNote(d gateway.Delivery, c gateway.Claim) component.Callout {
	itself := c.DeliveryID != nil && *c.DeliveryID == d.ID
	const ends = "If it is confirmed, this one is suppressed; if it is given up, the oldest that waits has its turn."
	switch stuck := c.IsStuck(v.now()); {
	case stuck && c.OnDoubt == gateway.OnDoubtHold:
		return component.Callout{
			Tone: component.ToneWarn, Title: "Waits for a person: nobody knows whether the fact was told.",
			Text: "It went out, and no answer was recorded before the lease of its claim ended. Look at the claim: reclaim it, or mark it as done.",
		}
	case stuck || itself:
		return component.Callout{
			Tone: component.ToneWarn, Title: "In doubt: nobody knows whether the fact was told.",
			Text: "It is sent again once the lease of its claim has ended, under the same Idempotency-Key.",
		}
	case c.State == gateway.ClaimReleased:
		return component.Callout{
			Tone: component.ToneInfo, Icon: "hourglass", Title: "Waits: another delivery of the fact is tried again first.", Text: ends,
		}
	default:
		return component.Callout{
			Tone: component.ToneInfo, Icon: "hourglass", Title: "Waits: another delivery of the fact is being sent.", Text: ends,
		}
	}
}

// suppressedNote says why a fact was not told again.
func suppressedNote(c *gateway.Claim) component.Callout {
	note := component.Callout{Tone: component.ToneInfo, Title: "Suppressed: the fact is confirmed.", Text: "The endpoint had been told before, so it was not told again."}
	if c != nil && c.DeliveryID != nil {
		note.Text = "The endpoint had been told " + when(c.EndedAt) + ", by delivery " + shortObject(c.DeliveryID.String()) + ", so it was not told again."
	}
	return note
}

// claimsOf reads the claims of an event's deliveries.
func (v *visit) claimsOf(deliveries []store.DeliveryRow) (map[gateway.ClaimID]gateway.Claim, error) {
	var ids []gateway.ClaimID
	for _, d := range deliveries {
		if d.ClaimID != nil {
			ids = append(ids, *d.ClaimID)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	claims, err := v.d.Store.Claims(v.ctx(), v.account(), store.ClaimFilter{IDs: ids}, store.Page[gateway.ClaimID]{Limit: len(ids)})
	known := make(map[gateway.ClaimID]gateway.Claim, len(claims))
	for _, c := range claims {
		known[c.ID] = c
	}
	return known, err
}

// claimTie ties a delivery to the one that told the fact or that it waits for;
// not ok when there is no other.
func (v *visit) claimTie(d gateway.Delivery, c gateway.Claim) (tie page.Failover, ok bool) {
	if c.DeliveryID == nil || *c.DeliveryID == d.ID {
		return tie, false
	}
	tie = page.Failover{Name: shortObject(c.DeliveryID.String()), Href: v.at("deliveries", c.DeliveryID.String()), Wraps: true}
	switch {
	case d.Status == gateway.DeliverySuppressed:
		tie.Says = "Told before by"
	case d.WaitingOn != nil:
		tie.Says = "Waits for"
	}
	return tie, tie.Says != ""
}

// claimLinks tie a delivery, on its own page, to its claim and to that other
// delivery.
func (v *visit) claimLinks(d gateway.Delivery, c *gateway.Claim) (links []page.Failover) {
	if c == nil {
		return nil
	}
	if tie, ok := v.claimTie(d, *c); ok {
		links = append(links, tie)
	}
	return append(links, page.Failover{Says: "Claim", Name: shortObject(c.ID.String()), Href: v.atClaim(c.ID)})
}
