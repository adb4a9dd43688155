package dashboard

import (
	"errors"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/layout"
	"github.com/rowlock/rowlock/web/page"
)

func addAlertRoutes(r router) {
	const at = "/settings/alerts"
	r.within(get, at, showAlerts)
	r.within(post, at, chooseAlerts)
	r.needs(gateway.PermSettings, post, at+"/channel", setAlertChannel)
	r.needs(gateway.PermSettings, post, at+"/channel/test", testAlertChannel)
	r.needs(gateway.PermSettings, get, at+"/channel/remove", askRemoveAlertChannel)
	r.needs(gateway.PermSettings, post, at+"/channel/remove", removeAlertChannel)
}

// alertChannel is the account's channel. Who sets up the first is offered what
// members are told by default.
func (v *visit) alertChannel() (page.AlertChannel, error) {
	shown := page.AlertChannel{Manages: v.may(gateway.PermSettings)}
	c, err := v.d.Notify.Channel(v.ctx(), v.account())
	if errors.Is(err, gateway.ErrNotFound) {
		for _, kind := range gateway.AlertKinds {
			if kind.ByDefault() {
				shown.Kinds = append(shown.Kinds, string(kind))
			}
		}
		return shown, nil
	}
	if err != nil {
		return shown, err
	}
	shown.Host, shown.Kinds = c.Host, kindTexts(c.Kinds)
	if m := c.Last; m != nil {
		shown.Last = &page.AlertMessage{Subject: m.Subject, At: m.CreatedAt, Sent: m.SentAt != nil, Failure: m.Failure, Next: m.DueAt}
	}
	return shown, nil
}

func setAlertChannel(v *visit) error {
	f, err := v.readForm()
	if err != nil {
		return err
	}
	if f.ok() {
		err := v.d.Notify.SetChannel(v.ctx(), v.account(), v.actor(), f.text(fieldURL), alertKinds(f))
		if err == nil {
			return v.done(v.at("settings", "alerts"), "Saved. Post a test to see that it arrives.")
		}
		if !f.take(err, map[string]string{fieldURL: fieldURL, fieldKinds: fieldKinds}, nil) {
			return err
		}
	}
	view, err := v.alertsPage()
	if err != nil {
		return err
	}
	view.Channel.Kinds, view.Channel.Errors = f.all(fieldKinds), f.errors
	return v.invalid(page.AlertsPage(view))
}

func testAlertChannel(v *visit) error {
	back := v.at("settings", "alerts")
	refused, err := v.d.Notify.TestChannel(v.ctx(), v.membership.Account, v.actor())
	switch {
	case isMissing(err):
		return v.refused(back, "No channel is set.")
	case err != nil:
		return err
	case refused != "":
		return v.refused(back, "The test was not taken: "+refused)
	}
	return v.done(back, "The test was posted. Look for it in the channel.")
}

func askRemoveAlertChannel(v *visit) error {
	return v.ask("Remove the channel", layout.SectionSettings, page.QuestionForm(page.Question{
		Title: "Remove the channel?", Action: v.at("settings", "alerts", "channel", "remove"), Cancel: v.at("settings", "alerts"), Heading: !v.scripted(),
		Text: []string{"Nothing more is posted to it, nor what waits for another try. Members get their mails as before."}, Submit: "Remove channel",
	}))
}

func removeAlertChannel(v *visit) error {
	back := v.at("settings", "alerts")
	err := v.d.Notify.RemoveChannel(v.ctx(), v.account(), v.actor())
	if isMissing(err) {
		return v.refused(back, "No channel is set.")
	}
	if err != nil {
		return err
	}
	return v.done(back, "The channel was removed.")
}
