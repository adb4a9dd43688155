package dashboard

import (
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/layout"
	"github.com/rowlock/rowlock/web/page"
)

const fieldKinds = "kinds"

// alertsPage is what the person is told by mail, without what they chose.
func (v *visit) alertsPage() (page.Alerts, error) {
	frame, _, err := v.frame("Mails to me", layout.SectionSettings)
	return page.Alerts{Frame: frame, MailOut: v.d.MailOut}, err
}

func showAlerts(v *visit) error {
	view, err := v.alertsPage()
	if err != nil {
		return err
	}
	kinds, err := v.d.Notify.Chosen(v.ctx(), v.account(), v.person().ID, v.operates())
	if err != nil {
		return err
	}
	for _, kind := range kinds {
		view.Kinds = append(view.Kinds, string(kind))
	}
	return v.page(page.AlertsPage(view))
}

func chooseAlerts(v *visit) error {
	f, err := v.readForm()
	if err != nil {
		return err
	}
	if f.ok() {
		kinds := make([]gateway.AlertKind, len(f.all(fieldKinds)))
		for i, kind := range f.all(fieldKinds) {
			kinds[i] = gateway.AlertKind(kind)
		}
		err := v.d.Notify.Choose(v.ctx(), v.account(), v.actor(), v.person().ID, kinds)
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
