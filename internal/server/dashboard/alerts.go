package dashboard

import (
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/layout"
	"github.com/rowlock/rowlock/web/page"
)

const (
	fieldKinds = "kinds"
	fieldURL   = "url"
)

// alertKinds are those that are ticked.
func alertKinds(f form) []gateway.AlertKind {
	kinds := make([]gateway.AlertKind, len(f.all(fieldKinds)))
	for i, kind := range f.all(fieldKinds) {
		kinds[i] = gateway.AlertKind(kind)
	}
	return kinds
}

func kindTexts(kinds []gateway.AlertKind) []string {
	all := make([]string, len(kinds))
	for i, kind := range kinds {
		all[i] = string(kind)
	}
	return all
}

// alertsPage is what the person, and the account's channel, are told.
func (v *visit) alertsPage() (page.Alerts, error) {
	frame, _, err := v.frame("Alerts", layout.SectionSettings)
	if err != nil {
		return page.Alerts{}, err
	}
	view := page.Alerts{Frame: frame, MailOut: v.d.MailOut, Now: v.now()}
	kinds, err := v.d.Notify.Chosen(v.ctx(), v.account(), v.person().ID, v.may)
	if err != nil {
		return view, err
	}
	view.Kinds = kindTexts(kinds)
	view.Channel, err = v.alertChannel()
	return view, err
}

func showAlerts(v *visit) error {
	view, err := v.alertsPage()
	if err != nil {
		return err
	}
	return v.page(page.AlertsPage(view))
}

func chooseAlerts(v *visit) error {
	f, err := v.readForm()
	if err != nil {
		return err
	}
	if f.ok() {
		err := v.d.Notify.Choose(v.ctx(), v.account(), v.actor(), v.person().ID, alertKinds(f))
		if err == nil {
			return v.done(v.at("settings", "alerts"), "Saved. It holds from the next mail on.")
		}
		if !f.take(err, map[string]string{fieldKinds: fieldKinds}, nil) {
			return err
		}
	}
	view, err := v.alertsPage()
	if err != nil {
		return err
	}
	view.Kinds, view.Errors = f.all(fieldKinds), f.errors
	return v.invalid(page.AlertsPage(view))
}
