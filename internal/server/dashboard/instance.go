package dashboard

import (
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
	"github.com/rowlock/rowlock/web/layout"
	"github.com/rowlock/rowlock/web/page"
)

const (
	instanceAccountsPath = "/instance/accounts"
	invitationsPath      = "/instance/invitations"
	mailPath             = "/instance/mail"
)

func listInstanceAccounts(v *visit) error {
	l := v.listing(instanceAccountsPath)
	all, err := v.d.Accounts.InstanceAccounts(v.ctx(), asked[gateway.AccountID](l))
	if err != nil {
		return err
	}
	own, err := v.ownPaths()
	if err != nil {
		return err
	}
	view := page.InstanceAccounts{Month: v.now().UTC().Format("January 2006, UTC"), Now: v.now()}
	all, view.Newest, view.Older = shown(l, all, func(a store.InstanceAccount) string { return a.ID.String() })
	for _, a := range all {
		view.Rows = append(view.Rows, page.InstanceAccountRow{
			ID: a.ID.String(), Name: a.Name, Slug: a.Slug, Path: own[a.ID],
			Members: a.Members, Endpoints: a.Endpoints, Events: a.Events, CreatedAt: a.CreatedAt,
			DeleteAt: a.DeleteAt, Gone: a.GoneAt != nil,
		})
	}
	if view.Frame, _, err = v.frame("Accounts of this instance", layout.SectionAccounts); err != nil {
		return err
	}
	return v.page(page.InstanceAccountsPage(view))
}

// ownPaths are where the pages of the person's own accounts are: owning the
// instance opens nobody else's.
func (v *visit) ownPaths() (map[gateway.AccountID]string, error) {
	all, err := v.d.Accounts.Accounts(v.ctx(), v.person().ID)
	paths := make(map[gateway.AccountID]string, len(all))
	for _, m := range all {
		paths[m.Account.ID] = accountPath(m.Account)
	}
	return paths, err
}
