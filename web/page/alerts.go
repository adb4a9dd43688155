package page

import (
	"slices"

	"github.com/a-h/templ"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/layout"
)

// Alerts is the page of what a member is told by mail.
type Alerts struct {
	layout.Frame

	// Kinds are those that are chosen.
	Kinds []string
	// MailOut tells that mails are sent, and not kept for the instance's owner.
	MailOut bool
	Errors  Errors
}

// tabAlerts is the page's tab among the settings.
const tabAlerts = "alerts"

// alertWords say what a kind of mail tells.
var alertWords = map[gateway.AlertKind]struct{ name, note string }{
	gateway.AlertEndpointDisabled:     {"An endpoint was disabled", "At once. Its deliveries are held until somebody resumes it."},
	gateway.AlertEndpointFailing:      {"An endpoint is about to be disabled", "At 90 % of the failures in a row that disable it."},
	gateway.AlertEndpointFailingEarly: {"An endpoint keeps failing", "Earlier, at 50 and 70 % of them."},
	gateway.AlertClaimDoubtful:        {"Nobody knows whether a fact was told", "Of single-fire types: no answer was recorded in time. It is sent again, or waits for you."},
	gateway.AlertDeliveryFailed:       {"Deliveries failed", "Their attempts are used up. At most one mail an hour for each endpoint."},
	gateway.AlertDeliveryExpired:      {"Deliveries expired", "Their retention ended before they arrived. One mail for each day of events."},
	gateway.AlertOperationDone:        {"A bulk operation came to its end", "Done or stopped, whoever began it."},
}

func (v Alerts) chosen(kind gateway.AlertKind) bool { return slices.Contains(v.Kinds, string(kind)) }

func (v Alerts) kindsAttrs() templ.Attributes {
	if v.Errors["kinds"] == "" {
		return nil
	}
	return templ.Attributes{"aria-describedby": "kinds-error", "aria-invalid": "true", "tabindex": "-1"}
}
