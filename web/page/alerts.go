package page

import (
	"slices"
	"time"

	"github.com/a-h/templ"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/layout"
)

// Alerts is the page of what a member is told by mail.
type Alerts struct {
	layout.Frame

	Now time.Time
	// Kinds are those that are chosen.
	Kinds []string
	// MailOut tells that mails are sent, and not kept for the instance's owner.
	MailOut bool
	Errors  Errors
	Channel AlertChannel
}

// AlertChannel is where the account is told besides by mail.
type AlertChannel struct {
	// Host is of the address that is set; empty for none.
	Host string
	// Kinds are those that are told.
	Kinds []string
	// Manages tells that the reader may change it.
	Manages bool
	// Last is the last message; nil for none.
	Last   *AlertMessage
	Errors Errors
}

// AlertMessage is what became of a message to a channel.
type AlertMessage struct {
	Subject string
	At      time.Time
	Sent    bool
	// Failure is what the last try said, Next when the next one is due; nil for
	// none to come.
	Failure string
	Next    *time.Time
}

// badge is the look and the word of how it went.
func (m AlertMessage) badge() (look, word string) {
	switch {
	case m.Sent:
		return "delivered", "Posted"
	case m.Next != nil && m.Failure != "":
		return "retrying", "Retrying"
	case m.Next != nil:
		return "pending", "Waiting"
	default:
		return "failed", "Not posted"
	}
}

func (c AlertChannel) chosen(kind gateway.AlertKind) bool {
	return slices.Contains(c.Kinds, string(kind))
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
	gateway.AlertKeyEnds:              {"An API key is about to end", "A week before. What uses it is refused from then on."},
}

func (v Alerts) chosen(kind gateway.AlertKind) bool { return slices.Contains(v.Kinds, string(kind)) }

func (v Alerts) kindsAttrs() templ.Attributes { return kindsAttrs(v.Errors, "kinds-error") }

func kindsAttrs(e Errors, id string) templ.Attributes {
	if e["kinds"] == "" {
		return nil
	}
	return templ.Attributes{"aria-describedby": id, "aria-invalid": "true", "tabindex": "-1"}
}

func (c AlertChannel) urlLabel() string {
	if c.Host == "" {
		return "Incoming webhook URL"
	}
	return "Another incoming webhook URL"
}

func (c AlertChannel) urlHint() string {
	if c.Host == "" {
		return "It is kept sealed, and shown to nobody afterwards. Discord takes it with /slack at its end."
	}
	return "Left empty, the one that is set stays."
}
