package dashboard

import (
	"errors"
	"net/http"

	"github.com/rowlock/rowlock/internal/account"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/layout"
	"github.com/rowlock/rowlock/web/page"
)

// addCloseRoutes adds the deletion of an account, and its taking back.
func addCloseRoutes(r router) {
	r.needs(gateway.PermClose, get, "/settings/delete", askDeleteAccount)
	r.needs(gateway.PermClose, post, "/settings/delete", deleteAccount)
	r.needs(gateway.PermClose, post, "/settings/restore", restoreAccount)
}

// deleteHref leads to the question whether to delete the account; empty for who
// may not, and where it is to be deleted already.
func (v *visit) deleteHref() string {
	if !v.may(gateway.PermClose) || v.membership.Account.DeleteAt != nil {
		return ""
	}
	return v.at("settings", "delete")
}

// deleteQuestion is what asks for the account's name.
func (v *visit) deleteQuestion(entered string, errs map[string]string) page.DeleteAccount {
	return page.DeleteAccount{
		Action: v.at("settings", "delete"), Cancel: v.at("settings"), Account: v.membership.Account.Name,
		DeleteAt: v.now().Add(account.CloseGrace), Entered: entered, Heading: !v.scripted(), Errors: errs,
	}
}

func askDeleteAccount(v *visit) error {
	return v.ask("Delete the account", layout.SectionSettings, page.DeleteAccountAsk(v.deleteQuestion("", nil)))
}

func deleteAccount(v *visit) error {
	f, err := v.readForm()
	if err != nil {
		return err
	}
	if entered := f.text(fieldName); f.ok() && !sameName(entered, v.membership.Account.Name) {
		f.wrong(fieldName, "This is not its name. Nothing was deleted.")
	}
	if !f.ok() {
		return v.askAgain(http.StatusUnprocessableEntity, "Delete the account", layout.SectionSettings, page.DeleteAccountAsk(v.deleteQuestion(f.text(fieldName), f.errors)))
	}
	_, err = v.d.Accounts.Close(v.ctx(), v.membership.Account, v.person())
	switch {
	case err == nil:
		return v.done(v.at("settings"), "The account is to be deleted. Its members are told by mail.")
	case errors.Is(err, gateway.ErrStateChanged):
		return v.refused(v.at("settings"), "The account is to be deleted already.")
	case errors.Is(err, gateway.ErrOwnerNeeded):
		return v.mayNot(gateway.PermClose)
	default:
		return err
	}
}

func restoreAccount(v *visit) error {
	err := v.d.Accounts.Restore(v.ctx(), v.membership.Account, v.person())
	switch {
	case err == nil:
		return v.done(v.at("settings"), "The account is restored. What was held goes on now.")
	case errors.Is(err, gateway.ErrStateChanged):
		return v.refused(v.at("settings"), "The account is not to be deleted.")
	case errors.Is(err, gateway.ErrOwnerNeeded):
		return v.mayNot(gateway.PermClose)
	default:
		return err
	}
}
