package dashboard

import (
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/page"
)

// answeredClaims is how many claims a search says in words how they stand.
const answeredClaims = 5

// claimAnswer says what is known of what was searched for: nil when nothing was.
func (v *visit) claimAnswer(view page.Claims, found []gateway.Claim) (*page.ClaimAnswer, error) {
	if view.Query == "" || view.Newest != "" || len(found) == 0 && (view.View != "" || view.ScopeText != "") {
		return nil, nil
	}
	answer := &page.ClaimAnswer{More: len(found) > answeredClaims}
	sights, err := v.claimSights(found[:min(len(found), answeredClaims)])
	if err != nil {
		return nil, err
	}
	for _, s := range sights {
		answer.Claims = append(answer.Claims, v.claimTold(s))
	}
	if len(found) > 0 {
		return answer, nil
	}
	events, err := v.d.Store.Events(v.ctx(), v.account(), store.EventFilter{Subject: view.Query}, store.Page[gateway.EventID]{Limit: 1})
	if len(events) > 0 {
		answer.Events = withAll(v.at("events"), "subject", view.Query, paramRange, rangeAll)
	}
	return answer, err
}

func (v *visit) claimTold(s claimSight) page.ClaimTold {
	told := page.ClaimTold{Callout: s.meaning(v.now()), Href: v.atClaim(s.ID)}
	if !s.IsSingleFire() {
		told.Title = s.Scope + ", “" + component.Shorten(s.Key, longNote) + "”: " + told.Title
	}
	if s.delivery.ID != (gateway.DeliveryID{}) {
		told.Delivery, told.DeliveryHref = shortObject(s.delivery.ID.String()), v.at("deliveries", s.delivery.ID.String())
	}
	return told
}
