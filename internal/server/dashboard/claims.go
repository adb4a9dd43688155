package dashboard

import (
	"fmt"
	"slices"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/layout"
	"github.com/rowlock/rowlock/web/page"
)

const (
	paramScope = "scope"
	paramQuery = "q"

	// countedClaims is up to where claims in a state are counted.
	countedClaims = 999
	// countedWaiting is up to where the deliveries that wait for a claim are.
	countedWaiting = 99
)

// addClaimRoutes adds the pages of the ledger.
func addClaimRoutes(r router) {
	const one = "/claims/:id"
	r.within(get, "/claims", listClaims)
	r.operated(get, "/claims/reclaim", askReclaimEnded)
	r.operated(post, "/claims/reclaim", reclaimEnded)
	r.within(get, one, showClaim)
	r.operated(get, one+"/reclaim", askReclaim)
	r.operated(post, one+"/reclaim", reclaim)
	r.operated(get, one+"/resolve", askResolve)
	r.operated(post, one+"/resolve", resolve)
}

// listClaims is the page of the ledger.
func listClaims(v *visit) error {
	l := v.listing(v.at("claims"), paramState, paramScope, paramQuery)
	if l.untidy {
		return v.redirect(l.address(l.query))
	}
	claims, err := v.d.Store.Claims(v.ctx(), v.account(), l.claimFilter(), asked[gateway.ClaimID](l))
	if err != nil {
		return err
	}
	frame, _, err := v.frame("Claims", layout.SectionClaims)
	if err != nil {
		return err
	}
	view := page.Claims{
		Frame: frame, Now: v.now(), Path: l.path, View: l.claimState(), Query: l.get(paramQuery),
		Filtered: l.has(paramScope, paramQuery), Clear: l.cleared(), Example: claimCommand(v.d.BaseURL),
	}
	claims, view.Newest, view.Older = shown(l, claims, func(c gateway.Claim) string { return c.ID.String() })
	if view.Newest == "" {
		view.Live = v.liveOfClaims()
	}
	if view.Rows, err = v.claimRows(claims); err != nil {
		return err
	}
	for _, add := range []func(listing, *page.Claims) error{v.addClaimViews, v.addEnded, v.addScopes} {
		if err := add(l, &view); err != nil {
			return err
		}
	}
	if view.Answer, err = v.claimAnswer(view, claims); err != nil {
		return err
	}
	return v.page(page.ClaimsPage(view))
}

// claimState is the state that the list is narrowed to; empty for all.
func (l listing) claimState() string {
	state := l.get(paramState)
	if state == page.StateLeaseEnded || slices.Contains(gateway.ClaimStates, gateway.ClaimState(state)) {
		return state
	}
	return ""
}

// claimFilter is what the list is narrowed by.
func (l listing) claimFilter() (f store.ClaimFilter) {
	f.Scope, f.Text = l.get(paramScope), l.get(paramQuery)
	if id, err := gateway.ParseID[gateway.ClaimID](f.Text); err == nil {
		f.Text, f.IDs = "", []gateway.ClaimID{id}
	}
	switch state := l.claimState(); state {
	case page.StateLeaseEnded:
		f.Stuck = true
	case string(gateway.ClaimInProgress):
		f.Live = true
	default:
		f.State = gateway.ClaimState(state)
	}
	return f
}

// addClaimViews adds the states to choose from, and whether there is a claim at
// all. What is done is not counted: that only grows.
func (v *visit) addClaimViews(l listing, view *page.Claims) error {
	n, err := v.d.Store.CountClaims(v.ctx(), v.account(), countedClaims+1)
	if err != nil {
		return err
	}
	choice := func(state, text string, tone component.Tone, count int) {
		c := component.Choice{Text: text, Href: l.with(paramState, state), Current: view.View == state}
		if count >= 0 {
			c.Count = upTo(count, countedClaims)
		}
		if count > 0 {
			c.Tone = tone
		}
		view.Views = append(view.Views, c)
	}
	choice("", "All", "", -1)
	choice(page.StateLeaseEnded, "Needs attention", component.ToneWarn, n.Stuck)
	choice(string(gateway.ClaimInProgress), "In progress", "", n.InProgress)
	choice(string(gateway.ClaimDone), "Done", "", -1)
	choice(string(gateway.ClaimReleased), "Released", "", n.Released)
	if len(view.Rows) > 0 || n != (store.ClaimCounts{}) || l.has(paramAfter) {
		return nil
	}
	first, err := v.d.Store.Claims(v.ctx(), v.account(), store.ClaimFilter{}, store.Page[gateway.ClaimID]{Limit: 1})
	view.None = len(first) == 0
	return err
}

// addEnded lets those who may free what has ended.
func (v *visit) addEnded(l listing, view *page.Claims) error {
	if !v.operates() {
		return nil
	}
	view.Reclaim = v.at("claims", "reclaim")
	f := l.claimFilter()
	if f.Live || f.State != "" {
		return nil
	}
	n, err := v.d.Store.CountEnded(v.ctx(), v.account(), store.EndedClaims{ClaimFilter: f, Until: view.Now}, countedClaims+1)
	if err != nil {
		return err
	}
	view.Ended, view.EndedMore = min(n, countedClaims), n > countedClaims
	view.ReclaimAll = withAll(view.Reclaim, fieldAll, "1", paramScope, l.get(paramScope), paramQuery, l.get(paramQuery))
	return nil
}

// claimRows shows claims as lines of a list.
func (v *visit) claimRows(claims []gateway.Claim) ([]page.ClaimRow, error) {
	ids := make([]gateway.ClaimID, len(claims))
	scopes := make([]string, len(claims))
	for i, c := range claims {
		ids[i], scopes[i] = c.ID, c.Scope
	}
	waiting, err := v.d.Store.CountWaiting(v.ctx(), v.account(), ids, countedWaiting+1)
	if err != nil {
		return nil, err
	}
	labels, err := v.scopeLabels(scopes)
	rows := make([]page.ClaimRow, len(claims))
	for i, c := range claims {
		rows[i] = v.claimRow(c, labels, waiting[c.ID])
	}
	return rows, err
}

func (v *visit) claimRow(c gateway.Claim, labels scopeLabels, waiting int) page.ClaimRow {
	row := page.ClaimRow{
		ID: c.ID.String(), Href: v.atClaim(c.ID), State: page.ClaimState(c, v.now()), Key: c.Key,
		Holder: c.Holder, ClaimedAt: c.ClaimedAt, LeaseExpiresAt: c.LeaseExpiresAt, Waiting: waitingText(waiting),
	}
	row.Scope, row.ScopeHref = labels.name(v, c.Scope)
	if c.IsSingleFire() {
		row.Key, row.Type = c.Subject, c.EventType
	}
	if c.DeliveryID != nil {
		row.Holder, row.HolderHref = shortObject(c.DeliveryID.String()), v.at("deliveries", c.DeliveryID.String())
	}
	if v.operates() && c.State == gateway.ClaimInProgress {
		row.Reclaim = v.atClaim(c.ID) + "/reclaim"
	}
	return row
}

// atClaim is a claim's page.
func (v *visit) atClaim(id gateway.ClaimID) string { return v.at("claims", id.String()) }

// waitingText is how many wait; empty for none.
func waitingText(n int) string {
	if n == 0 {
		return ""
	}
	return upTo(n, countedWaiting)
}

// upTo is a number that was counted up to a bound.
func upTo(n, bound int) string {
	if n > bound {
		return component.Number(bound) + "+"
	}
	return component.Number(n)
}

// claimCommand claims a key.
func claimCommand(baseURL string) string {
	return fmt.Sprintf(`curl %s/api/v1/claims \
  -H "Authorization: Bearer $ROWLOCK_API_KEY" \
  -H "Content-Type: application/json" \
  -d '{"scope":"welcome-mails","key":"cus_1001","lease":"30s","holder":"mailer-1"}'`, baseURL)
}
