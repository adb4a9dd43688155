package dashboard

import (
	"cmp"
	"slices"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/page"
)

const (
	// offeredScopes is how many scopes the filter offers, and of how many it is
	// looked how long work takes; shownScopes are shown.
	offeredScopes, shownScopes = 50, 8
	// workWindow is of when the work is that is looked at, and workLooked of how
	// much of it, the newest, for each scope.
	workWindow, workLooked = 7 * 24 * time.Hour, 200
)

// addScopes adds the filter by scope, and on the first page how long work takes.
func (v *visit) addScopes(l listing, view *page.Claims) error {
	scopes, err := v.d.Store.ClaimScopes(v.ctx(), v.account(), "", offeredScopes+1)
	if err != nil {
		return err
	}
	view.WorkMore = len(scopes) > offeredScopes
	scopes = scopes[:min(len(scopes), offeredScopes)]
	chosen := l.get(paramScope)
	if chosen != "" {
		if scopes, err = v.withScope(scopes, chosen); err != nil {
			return err
		}
	}
	names := make([]string, len(scopes))
	for i, s := range scopes {
		names[i] = s.Scope
	}
	labels, err := v.scopeLabels(names)
	if err != nil {
		return err
	}
	options := make([]component.Option, len(scopes))
	for i, name := range names {
		text, _ := labels.name(v, name)
		options[i] = component.Option{Value: name, Label: text}
	}
	view.Scopes, view.ScopeText = l.pick(paramScope, options)
	view.Scopes = orAny(view.Scopes)
	if view.Newest != "" || view.Query != "" {
		return nil
	}
	if chosen != "" {
		scopes = slices.DeleteFunc(scopes, func(s store.ClaimScope) bool { return s.Scope != chosen })
		view.WorkMore = false
	}
	return v.addWork(l, scopes, labels, view)
}

// withScope adds the scope that is chosen, where it is none of the first.
func (v *visit) withScope(scopes []store.ClaimScope, chosen string) ([]store.ClaimScope, error) {
	if slices.ContainsFunc(scopes, func(s store.ClaimScope) bool { return s.Scope == chosen }) {
		return scopes, nil
	}
	found, err := v.d.Store.ClaimScopes(v.ctx(), v.account(), chosen, 1)
	if err != nil || len(found) == 0 || found[0].Scope != chosen {
		found = []store.ClaimScope{{Scope: chosen}}
	}
	return append(scopes, found...), err
}

// addWork adds how long work takes under scopes: first where it comes nearest
// to the end of its lease.
func (v *visit) addWork(l listing, scopes []store.ClaimScope, labels scopeLabels, view *page.Claims) error {
	names := make([]string, len(scopes))
	for i, s := range scopes {
		names[i] = s.Scope
	}
	took, err := v.d.Store.WorkTimes(v.ctx(), v.account(), names, view.Now.Add(-workWindow), workLooked)
	if err != nil {
		return err
	}
	for _, s := range scopes {
		w, worked := took[s.Scope]
		if !worked || s.Lease <= 0 {
			continue
		}
		row := page.ScopeWork{N: workedText(w.N), Median: w.Median, P95: w.P95, Lease: s.Lease, Href: l.with(paramScope, s.Scope)}
		row.Scope, _ = labels.name(v, s.Scope)
		view.Work = append(view.Work, row)
	}
	slices.SortStableFunc(view.Work, func(a, b page.ScopeWork) int {
		return cmp.Compare(b.P95.Seconds()/b.Lease.Seconds(), a.P95.Seconds()/a.Lease.Seconds())
	})
	if len(view.Work) > shownScopes {
		view.Work, view.WorkMore = view.Work[:shownScopes], true
	}
	return nil
}

// workedText is of how much work a time is.
func workedText(n int) string {
	if n < workLooked {
		return component.Number(n)
	}
	return "newest " + component.Number(n)
}

// scopeLabels are what the endpoints are called that are scopes.
type scopeLabels map[gateway.EndpointID]store.EndpointLabel

func (v *visit) scopeLabels(scopes []string) (scopeLabels, error) {
	var ids []gateway.EndpointID
	for _, scope := range scopes {
		if id, err := gateway.ParseID[gateway.EndpointID](scope); err == nil {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	return v.d.Store.EndpointLabels(v.ctx(), v.account(), ids)
}

// name is what a scope is called, and where its endpoint's page is, if it is one
// that is still there.
func (l scopeLabels) name(v *visit, scope string) (name, href string) {
	id, err := gateway.ParseID[gateway.EndpointID](scope)
	if err != nil {
		return scope, ""
	}
	label, known := l[id]
	switch {
	case !known:
		return scope, ""
	case label.Deleted:
		return called(label), ""
	default:
		return called(label), v.at("endpoints", scope)
	}
}
