package dashboard

import (
	"errors"
	"strings"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/page"
)

// claimSight is a claim with what is to be known to say how it stands.
type claimSight struct {
	gateway.Claim

	// last is how its holder fares, or its last one fared.
	last gateway.Hold
	// delivery is the one that holds a single-fire claim or held it last; it has
	// no id when none did, or when it is no longer kept.
	delivery gateway.Delivery
	// endpoint is what the endpoint of a single-fire claim is called.
	endpoint string
	// by is who stepped in last.
	by string
}

// claimSights reads what is to be known of a few claims.
func (v *visit) claimSights(claims []gateway.Claim) ([]claimSight, error) {
	ids, scopes := make([]gateway.ClaimID, len(claims)), make([]string, len(claims))
	for i, c := range claims {
		ids[i], scopes[i] = c.ID, c.Scope
	}
	holds, err := v.d.Store.LastHolds(v.ctx(), v.account(), ids)
	if err != nil {
		return nil, err
	}
	labels, err := v.scopeLabels(scopes)
	if err != nil {
		return nil, err
	}
	var actors []gateway.Actor
	for _, h := range holds {
		actors = append(actors, h.Actor)
	}
	names, err := v.d.Store.ActorNames(v.ctx(), v.account(), actors)
	if err != nil {
		return nil, err
	}
	sights := make([]claimSight, len(claims))
	for i, c := range claims {
		s := claimSight{Claim: c, last: holds[c.ID]}
		s.endpoint, _ = labels.name(v, c.Scope)
		s.by = actorName(gateway.AuditEntry{Actor: s.last.Actor, ActorName: names[s.last.Actor]})
		if s.delivery, err = v.heldBy(c); err != nil {
			return nil, err
		}
		sights[i] = s
	}
	return sights, nil
}

// heldBy reads the delivery that holds a claim or held it last.
func (v *visit) heldBy(c gateway.Claim) (d gateway.Delivery, err error) {
	if c.DeliveryID == nil {
		return d, nil
	}
	d, err = v.d.Store.Delivery(v.ctx(), v.account(), *c.DeliveryID)
	if isMissing(err) || errors.Is(err, gateway.ErrExpired) {
		return gateway.Delivery{}, nil
	}
	return d, err
}

// meaning says what a claim's state means, and what to do.
func (s claimSight) meaning(now time.Time) component.Callout {
	if s.IsSingleFire() {
		return s.factMeaning(now)
	}
	return s.workMeaning(now)
}

// workMeaning is of a claim of the ledger.
func (s claimSight) workMeaning(now time.Time) component.Callout {
	switch state := page.ClaimState(s.Claim, now); {
	case s.State == gateway.ClaimDone && s.last.Ended == gateway.HoldResolved:
		return component.Callout{
			Tone: component.ToneOK, Title: "Marked as done by " + s.by + " " + when(s.EndedAt) + ".",
			Text: "Nobody gets it any more. Who claims the key is told that it is done. " + s.reason(),
		}
	case s.State == gateway.ClaimDone:
		return component.Callout{
			Tone: component.ToneOK, Title: "Done by " + s.holder() + " " + when(s.EndedAt) + ".",
			Text: "Nobody gets it any more. Who claims the key is told that it is done, with what was kept.",
		}
	case s.State == gateway.ClaimReleased && s.last.Ended == gateway.HoldReclaimed:
		return component.Callout{
			Tone: component.ToneInfo, Title: "Reclaimed by " + s.by + " " + when(s.EndedAt) + ": nobody holds it.",
			Text: "The next who claims the key gets it. " + s.reason(),
		}
	case s.State == gateway.ClaimReleased:
		return component.Callout{
			Tone: component.ToneInfo, Title: "Given back by " + s.holder() + " " + when(s.EndedAt) + ": nobody holds it.",
			Text: "It was not done. The next who claims the key gets it.",
		}
	case state == page.StateLeaseEnded:
		return component.Callout{
			Tone: component.ToneWarn, Title: "In doubt: the lease ended, and " + s.holder() + " has not said how it went.",
			Text: "The next who claims the key gets it; from then on the late holder can end nothing. If nobody comes, find out whether the work was done: if it was, mark it as done; if not, reclaim it, and have it done again.",
		}
	default:
		return component.Callout{
			Tone: component.ToneInfo, Title: sentence(s.holder() + " holds it"),
			Text: "Nobody else gets it before the lease ends.",
		}
	}
}

// holder is who holds it or held it last, in its own words.
func (s claimSight) holder() string {
	if s.Holder == "" {
		return "a holder without a name"
	}
	return component.Shorten(s.Holder, gateway.MaxHolder)
}

// reason is why somebody stepped in.
func (s claimSight) reason() string { return "Why: “" + s.last.Reason + "”" }

// fact is what a single-fire claim is about, to whom.
func (s claimSight) fact() string {
	return s.EventType + " about “" + component.Shorten(s.Subject, longNote) + "”"
}

// factMeaning is of a single-fire claim.
func (s claimSight) factMeaning(now time.Time) component.Callout {
	switch state := page.ClaimState(s.Claim, now); {
	case s.State == gateway.ClaimDone && s.last.Ended == gateway.HoldResolved:
		return component.Callout{
			Tone: component.ToneOK, Title: "Marked as told by " + s.by + " " + when(s.EndedAt) + ": " + s.fact() + " to " + s.endpoint + ".",
			Text: "Rowlock has no confirmation of its own. What reports it again is suppressed. " + s.reason(),
		}
	case s.State == gateway.ClaimDone:
		return component.Callout{
			Tone: component.ToneOK, Title: s.endpoint + " was told " + when(s.EndedAt) + ": " + s.fact() + ".",
			Text: "It confirmed it. What reports it again is suppressed.",
		}
	case s.State == gateway.ClaimReleased:
		return s.untoldMeaning(now)
	case state == page.StateLeaseEnded:
		return s.doubtMeaning()
	default:
		return component.Callout{
			Tone: component.ToneInfo, Title: s.endpoint + " is being told: " + s.fact() + ".",
			Text: "It went out " + when(&s.ClaimedAt) + ", and the answer is waited for.",
		}
	}
}

// doubtMeaning is of a fact of which nobody knows whether it arrived.
func (s claimSight) doubtMeaning() component.Callout {
	c := component.Callout{
		Tone: component.ToneWarn, Title: "In doubt: nobody knows whether " + s.endpoint + " was told: " + s.fact() + ".",
		Text: "It went out " + when(&s.ClaimedAt) + ", and no answer was recorded before the lease ended. ",
	}
	if s.OnDoubt == gateway.OnDoubtHold {
		c.Text += "It waits for you. Ask the receiver: if it has it, mark it as done; if not, reclaim it, and it goes out again."
	} else {
		c.Text += "It is sent again by itself, under the same Idempotency-Key. If it stays here, its endpoint is paused or disabled, or nothing is left to be sent: reclaim it, or mark it as done."
	}
	return c
}

// untoldMeaning is of a fact that was not confirmed and that nobody sends at
// this moment.
func (s claimSight) untoldMeaning(now time.Time) component.Callout {
	c := component.Callout{Tone: component.ToneWarn, Title: s.endpoint + " was not told: " + s.fact() + "."}
	if s.last.Ended == gateway.HoldReclaimed {
		c.Text = sentence(s.by+" reclaimed it "+when(s.EndedAt)) + " " + s.reason() + " "
	} else {
		c.Text = "Its last attempt was refused or did not arrive. "
	}
	c.Text += s.next(now)
	return c
}

// next says what becomes of a fact that was not told.
func (s claimSight) next(now time.Time) string {
	const again = "Redeliver the delivery to have it told."
	switch d := s.delivery; {
	case d.ID == gateway.DeliveryID{}:
		return "The delivery is no longer kept. Who reports the fact again has it told."
	case d.Status == gateway.DeliveryHeld:
		return "It goes on when its endpoint is resumed."
	case d.Status == gateway.DeliveryPending && d.NextAttemptAt != nil && d.NextAttemptAt.After(now):
		return "It is tried again in " + component.Duration(d.NextAttemptAt.Sub(now).Round(time.Second)) + "."
	case isOpen(d.Status):
		return "It is tried again now."
	case d.Status == gateway.DeliveryFailed:
		return "The delivery was given up after " + component.Plural(d.Attempts, "attempt", "attempts") + ". " + again
	default:
		return "The delivery is " + strings.ToLower(component.Word(d.Status)) + ". " + again
	}
}

// when is a time in a sentence.
func when(at *time.Time) string {
	if at == nil {
		return "at a time that is not known"
	}
	return "at " + at.UTC().Format("15:04:05 UTC on 2 January 2006")
}
