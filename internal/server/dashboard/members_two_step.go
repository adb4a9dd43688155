package dashboard

import (
	"errors"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/layout"
	"github.com/rowlock/rowlock/web/page"
)

// askRequireTwoStep asks whether two-step log-in shall be required, or not any
// more.
func askRequireTwoStep(v *visit) error {
	return v.ask("Two-step log-in of members", layout.SectionSettings, page.RequireTwoStepAsk(page.RequireTwoStep{
		Action: v.Request().URL.Path, Cancel: v.atMembers(), Required: v.membership.TwoStepRequired, Heading: !v.scripted(),
	}))
}

func requireTwoStep(v *visit) error {
	f, err := v.readForm()
	if err != nil {
		return err
	}
	required := f.checked("required")
	err = v.d.Accounts.RequireTwoStep(v.ctx(), v.membership.Account, v.session, required)
	switch {
	case err == nil && required:
		return v.done(v.atMembers(), "Two-step log-in is required from every member now. Those who have not turned it on are told by mail.")
	case err == nil:
		return v.done(v.atMembers(), "Two-step log-in is up to each member now.")
	case errors.Is(err, gateway.ErrStateChanged) && required && !v.person().TwoStep:
		return v.refused(v.atMembers(), "Turn two-step log-in on for yourself first, under Your settings.")
	case errors.Is(err, gateway.ErrStateChanged):
		return v.refused(v.atMembers(), "That is so already.")
	default:
		return err
	}
}
