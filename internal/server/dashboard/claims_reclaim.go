package dashboard

import (
	"net/http"
	"net/url"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/page"
)

// endedClaims reads which claims are meant: single ones, or all that have ended
// of what a list is narrowed to. not ok when none are named.
func (v *visit) endedClaims(values url.Values) (e store.EndedClaims, ok bool) {
	e.Until = readTime(values.Get(paramUntil))
	if e.Until.IsZero() || e.Until.After(v.now()) {
		e.Until = v.now()
	}
	for _, text := range values["id"] {
		if id, err := gateway.ParseID[gateway.ClaimID](text); err == nil && len(e.IDs) < pageRows {
			e.IDs = append(e.IDs, id)
		}
	}
	if len(e.IDs) > 0 {
		return e, true
	}
	l := listing{query: values, now: v.now()}
	e.ClaimFilter = l.claimFilter()
	return e, values.Get(fieldAll) != ""
}

func askReclaimEnded(v *visit) error {
	q, err := v.endedQuestion(v.QueryParams())
	if err != nil {
		return err
	}
	return v.stepInQuestion(http.StatusOK, q)
}

// endedQuestion asks before claims whose lease has ended are freed: what is
// confirmed is what was counted.
func (v *visit) endedQuestion(values url.Values) (page.ClaimQuestion, error) {
	e, ok := v.endedClaims(values)
	q := page.ClaimQuestion{
		Action: v.at("claims", "reclaim"), Cancel: v.at("claims"), Title: "Reclaim what has ended", Submit: "Reclaim",
		Hidden: endedFields(e, values),
		Text: []string{
			"Their leases ran out without a word, so nobody should be at work on them. They are nobody’s then: the next who claims a key gets it, with a larger fence. A late holder can end nothing any more.",
			"Of single-fire types, what waits for them goes out again under the same Idempotency-Key: a receiver that has it already gets it a second time.",
		},
	}
	if !ok {
		q.Refused = "Choose at least one claim whose lease has ended."
		return q, nil
	}
	n, err := v.d.Store.CountEnded(v.ctx(), v.account(), e, countedClaims+1)
	switch {
	case err != nil:
		return q, err
	case n == 0:
		q.Refused = "None of them has ended any more: they were claimed again, or ended by somebody."
	default:
		q.Title = "Reclaim " + noun(upTo(n, countedClaims), "claim", "claims") + " whose lease has ended?"
		q.Submit = "Reclaim " + upTo(n, countedClaims)
	}
	return q, nil
}

// endedFields go with the question: which claims are meant, and as of when.
func endedFields(e store.EndedClaims, values url.Values) []component.Option {
	fields := []component.Option{{Label: paramUntil, Value: e.Until.UTC().Format(time.RFC3339Nano)}}
	for _, id := range e.IDs {
		fields = append(fields, component.Option{Label: "id", Value: id.String()})
	}
	if len(e.IDs) > 0 {
		return fields
	}
	return append(fields, hiddenOf(values, []string{fieldAll, paramScope, paramQuery})...)
}

func reclaimEnded(v *visit) error {
	f, err := v.readForm()
	if err != nil {
		return err
	}
	e, ok := v.endedClaims(f.values)
	list := address(v.at("claims"), paramState, page.StateLeaseEnded)
	if !ok {
		return v.refused(list, "Nothing was reclaimed: choose at least one claim whose lease has ended.")
	}
	if f.ok() {
		done, err := v.d.Claims.ReclaimEnded(v.ctx(), v.account(), v.actor(), e, f.text(fieldWhy))
		switch {
		case err == nil && done.N == 0:
			return v.refused(list, "Nothing was reclaimed: none of them has ended any more.")
		case err == nil && done.More:
			return v.done(list, "Reclaimed "+component.Number(done.N)+". There are more: press once more.")
		case err == nil:
			return v.done(list, "Reclaimed "+component.Plural(done.N, "claim", "claims")+".")
		case !f.take(err, map[string]string{fieldWhy: fieldWhy}, nil):
			return err
		}
	}
	q, err := v.endedQuestion(f.values)
	if err != nil {
		return err
	}
	q.Entered, q.Errors = f.text(fieldWhy), f.errors
	return v.stepInQuestion(http.StatusUnprocessableEntity, q)
}
