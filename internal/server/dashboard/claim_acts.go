package dashboard

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/layout"
	"github.com/rowlock/rowlock/web/page"
)

const (
	// fieldWhy is why a person steps in.
	fieldWhy   = "reason"
	fieldFence = "fence"
	fieldWord  = "word"

	// reclaimWord is typed by who frees a claim whose lease lasts.
	reclaimWord = "reclaim"
)

func askReclaim(v *visit) error {
	s, err := v.stepInSight()
	if err != nil {
		return err
	}
	return v.stepInQuestion(http.StatusOK, v.reclaimQuestion(s))
}

func askResolve(v *visit) error {
	s, err := v.stepInSight()
	if err != nil {
		return err
	}
	return v.stepInQuestion(http.StatusOK, v.resolveQuestion(s))
}

// stepInSight reads the claim in which a person wants to step in.
func (v *visit) stepInSight() (claimSight, error) {
	c, err := v.claim()
	if err != nil {
		return claimSight{}, err
	}
	sights, err := v.claimSights([]gateway.Claim{c})
	if err != nil {
		return claimSight{}, err
	}
	return sights[0], nil
}

// stepInQuestion asks, at first or again.
func (v *visit) stepInQuestion(status int, q page.ClaimQuestion) error {
	q.Heading = !v.scripted()
	return v.askAgain(status, "Step in", layout.SectionClaims, page.ClaimAsk(q))
}

// name is what a person knows the claim by.
func (s claimSight) name() string {
	if s.IsSingleFire() {
		return component.Shorten(s.Subject, longNote)
	}
	return component.Shorten(s.Key, longNote)
}

// isLive tells that somebody holds it whose lease lasts.
func (s claimSight) isLive(v *visit) bool {
	return s.State == gateway.ClaimInProgress && !s.IsStuck(v.now())
}

func (v *visit) reclaimQuestion(s claimSight) page.ClaimQuestion {
	at := v.atClaim(s.ID)
	q := page.ClaimQuestion{
		Action: at + "/reclaim", Cancel: at, Title: "Reclaim “" + s.name() + "”?", Submit: "Reclaim", Hidden: seenFence(s),
		Text: []string{"It is nobody’s then: the next who claims the key gets it, with a larger fence. Whoever held it can end nothing any more."},
	}
	if s.IsSingleFire() {
		q.Text = []string{"It is nobody’s then: what waits for it, or whoever reports the fact next, goes out under the same Idempotency-Key and with a larger fence. If " + s.endpoint + " has it already, it gets it a second time."}
	}
	switch {
	case s.State == gateway.ClaimDone:
		q.Refused = "It is done. Nothing is left to be freed."
	case s.State == gateway.ClaimReleased:
		q.Refused = "Nobody holds it: the next who claims it gets it."
	case s.isLive(v):
		q.Word, q.Danger = reclaimWord, true
		q.Warning = "The lease lasts for another " + component.Duration(s.LeaseExpiresAt.Sub(v.now())) + "."
		q.WarningText = "Its holder, " + s.holder() + ", may be at work at this moment. If it is, the work is done twice."
	}
	return q
}

func (v *visit) resolveQuestion(s claimSight) page.ClaimQuestion {
	at := v.atClaim(s.ID)
	q := page.ClaimQuestion{
		Action: at + "/resolve", Cancel: at, Title: "Mark “" + s.name() + "” as done?", Submit: "Mark as done", Hidden: seenFence(s), Danger: true,
		Text: []string{"Nobody does it any more: who claims the key is told that it is done. This cannot be undone."},
	}
	if s.IsSingleFire() {
		q.Text = []string{s.endpoint + " is not told any more: what waits for it is suppressed, and so is whatever reports the fact again. This cannot be undone."}
	}
	switch {
	case s.State == gateway.ClaimDone:
		q.Refused = "It is done already."
	case s.isLive(v):
		q.Warning = "The lease lasts for another " + component.Duration(s.LeaseExpiresAt.Sub(v.now())) + "."
		q.WarningText = "Its holder, " + s.holder() + ", may be at work at this moment, and will be refused when it wants to say how it went."
	}
	return q
}

// seenFence has a form act on the holder that its reader saw.
func seenFence(s claimSight) []component.Option {
	return []component.Option{{Label: fieldFence, Value: strconv.FormatInt(s.Fence, 10)}}
}

// changedSince is told who acts on what is not so any more.
const changedSince = "Nothing was changed: it is no longer as you saw it. This is how it is now."

// stepIn reads the form of a question, and has it done; ask makes the question
// anew, for an answer that cannot be taken.
func (v *visit) stepIn(ask func(claimSight) page.ClaimQuestion, do func(s claimSight, fence int64, reason string) (gateway.Claim, error), done func(gateway.Claim) string) error {
	s, err := v.stepInSight()
	if err != nil {
		return err
	}
	f, err := v.readForm()
	if err != nil {
		return err
	}
	at, q := v.atClaim(s.ID), ask(s)
	fence, err := strconv.ParseInt(f.text(fieldFence), 10, 64)
	if err != nil || fence < 1 {
		return v.refused(at, "Nothing was changed: the form was not complete. Press the button once more.")
	}
	if fence != s.Fence || q.Refused != "" {
		return v.refused(at, changedSince)
	}
	if q.Word != "" && f.text(fieldWord) != q.Word {
		f.wrong(fieldWord, "Type the word "+q.Word+".")
	}
	if f.ok() {
		c, err := do(s, fence, f.text(fieldWhy))
		switch {
		case err == nil:
			return v.done(at, done(c))
		case errors.Is(err, gateway.ErrStateChanged), errors.Is(err, gateway.ErrFenceStale):
			return v.refused(at, changedSince)
		case !f.take(err, map[string]string{fieldWhy: fieldWhy}, nil):
			return err
		}
	}
	q.Entered, q.EnteredWord, q.Errors = f.text(fieldWhy), f.text(fieldWord), f.errors
	return v.stepInQuestion(http.StatusUnprocessableEntity, q)
}

func reclaim(v *visit) error {
	return v.stepIn(v.reclaimQuestion, func(s claimSight, fence int64, reason string) (gateway.Claim, error) {
		return v.d.Claims.Reclaim(v.ctx(), v.account(), v.actor(), s.ID, fence, reason)
	}, func(c gateway.Claim) string {
		if c.IsSingleFire() {
			return "Reclaimed. What waits for it goes out now."
		}
		return "Reclaimed. The next who claims the key gets it."
	})
}

func resolve(v *visit) error {
	return v.stepIn(v.resolveQuestion, func(s claimSight, fence int64, reason string) (gateway.Claim, error) {
		return v.d.Claims.Resolve(v.ctx(), v.account(), v.actor(), s.ID, fence, reason)
	}, func(gateway.Claim) string { return "Marked as done." })
}
