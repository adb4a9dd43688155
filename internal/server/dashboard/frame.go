package dashboard

import (
	"github.com/rowlock/rowlock/internal/account"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/layout"
)

const (
	// countedFailures is how many failed deliveries the navigation counts
	// before it says "more".
	countedFailures = 99
	// countedStuck is the same of claims whose lease has ended.
	countedStuck = 99
	// offeredAccounts is how many accounts the switcher lists.
	offeredAccounts = 8
)

// frame is what stands around a page of this visit.
func (v *visit) frame(title, section string) (layout.Frame, flash, error) {
	left, err := v.takeFlash()
	if err != nil {
		return layout.Frame{}, left, err
	}
	f := layout.Frame{
		Title: title, Section: section,
		Theme: v.theme(), KeysOff: v.keysOff(), Here: v.here(),
		Person: layout.Person{Name: v.person().Name, Email: v.person().Email, InstanceOwner: v.person().InstanceOwner},
		Toast:  left.toast(),
	}
	if f.Accounts, err = v.accountLinks(); err != nil {
		return f, left, err
	}
	if v.membership.Account.Slug == "" {
		return f, left, nil
	}
	f.Account = accountLink(v.membership)
	f.Account.DeleteAt = v.membership.Account.DeleteAt
	f.Account.Audit = v.may(gateway.PermAudit)
	if f.Account.DeleteAt != nil && v.may(gateway.PermClose) {
		f.Account.Restore = v.at("settings", "restore")
	}
	failed, err := v.d.Store.CountFailed(v.ctx(), v.account(), countedFailures+1)
	if err != nil {
		return f, left, err
	}
	f.Failed, f.FailedMore = min(failed, countedFailures), failed > countedFailures
	stuck, err := v.d.Store.CountStuck(v.ctx(), v.account(), countedStuck+1)
	f.Stuck, f.StuckMore = min(stuck, countedStuck), stuck > countedStuck
	return f, left, err
}

// accountLinks are the person's accounts, as many as the switcher lists.
func (v *visit) accountLinks() ([]layout.Account, error) {
	all, err := v.d.Accounts.Accounts(v.ctx(), v.person().ID)
	if err != nil {
		return nil, err
	}
	links := make([]layout.Account, 0, min(len(all), offeredAccounts))
	for _, m := range all[:min(len(all), offeredAccounts)] {
		links = append(links, accountLink(m))
	}
	return links, nil
}

func accountLink(m account.Membership) layout.Account {
	return layout.Account{Name: m.Account.Name, Path: accountPath(m.Account), Role: m.Role.Title()}
}

// bare is what stands around a page before anybody is logged in.
func (v *visit) bare(title string) layout.Bare {
	return layout.Bare{Title: title, Theme: v.theme()}
}
