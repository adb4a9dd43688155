package dashboard

import (
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/layout"
	"github.com/rowlock/rowlock/web/page"
)

// settingsPage is what the account is.
func (v *visit) settingsPage() (page.Settings, error) {
	frame, _, err := v.frame("Settings", layout.SectionSettings)
	return page.Settings{
		Frame: frame, Now: v.now(), Tenant: v.membership.Account, Name: v.membership.Account.Name, Role: v.membership.Role, Manages: v.may(gateway.PermSettings), Delete: v.deleteHref(),
	}, err
}

func showSettings(v *visit) error {
	view, err := v.settingsPage()
	if err != nil {
		return err
	}
	return v.page(page.SettingsPage(view))
}

func renameAccount(v *visit) error {
	f, err := v.readForm()
	if err != nil {
		return err
	}
	if f.ok() {
		err := v.d.Accounts.RenameAccount(v.ctx(), v.account(), v.actor(), f.text(fieldName))
		if err == nil {
			return v.done(v.at("settings"), "Account renamed.")
		}
		if !f.take(err, map[string]string{fieldName: fieldName}, nil) {
			return err
		}
	}
	view, err := v.settingsPage()
	if err != nil {
		return err
	}
	view.Name, view.Errors = f.text(fieldName), f.errors
	return v.invalid(page.SettingsPage(view))
}
