package dashboard

import (
	"errors"

	"github.com/rowlock/rowlock/internal/account"
	"github.com/rowlock/rowlock/internal/config"
	"github.com/rowlock/rowlock/web/page"
)

func listAccounts(v *visit) error {
	all, err := v.d.Accounts.Accounts(v.ctx(), v.person().ID)
	if err != nil {
		return err
	}
	mayOpen, err := v.mayOpenAccounts()
	if err != nil {
		return err
	}
	frame, _, err := v.frame("Accounts", "")
	if err != nil {
		return err
	}
	view := page.Accounts{Frame: frame, MayOpen: mayOpen, Now: v.now()}
	for _, m := range all {
		view.Rows = append(view.Rows, page.AccountRow{
			Name: m.Account.Name, Path: accountPath(m.Account), Role: m.Role.Title(), CreatedAt: m.Account.CreatedAt,
			Last: len(all) > 1 && v.session.LastAccount != nil && *v.session.LastAccount == m.Account.ID,
		})
	}
	return v.page(page.AccountsPage(view))
}

// mayOpenAccounts tells whether the person may make further accounts. Only the
// use case decides.
func (v *visit) mayOpenAccounts() (bool, error) {
	if v.person().InstanceOwner {
		return true, nil
	}
	state, err := v.d.Accounts.SignupState(v.ctx())
	return state.Mode != config.SignupClosed, err
}

func showNewAccount(v *visit) error {
	mayOpen, err := v.mayOpenAccounts()
	if err != nil {
		return err
	}
	frame, _, err := v.frame("New account", "")
	if err != nil {
		return err
	}
	return v.page(page.NewAccountPage(page.NewAccount{Frame: frame, Closed: !mayOpen}))
}

func openAccount(v *visit) error {
	f, err := v.readForm()
	if err != nil {
		return err
	}
	closed := false
	if f.ok() {
		made, err := v.d.Accounts.Open(v.ctx(), v.person().ID, f.text(fieldName))
		switch {
		case err == nil:
			return v.done(accountPath(made), "Account created. You are its owner.")
		case errors.Is(err, account.ErrSignupClosed):
			closed = true
		case !f.take(err, map[string]string{fieldName: fieldName}, nil):
			return err
		}
	}
	frame, _, err := v.frame("New account", "")
	if err != nil {
		return err
	}
	return v.invalid(page.NewAccountPage(page.NewAccount{Frame: frame, Name: f.text(fieldName), Errors: f.errors, Closed: closed}))
}
