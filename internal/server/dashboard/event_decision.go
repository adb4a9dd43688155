package dashboard

import (
	"errors"
	"strings"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/page"
)

// factOf reads what is known of an event's subject, where it reported something;
// nil is nothing.
func (v *visit) factOf(event gateway.Event) (*gateway.Fact, error) {
	if event.Subject == nil || event.State == nil {
		return nil, nil //nolint:nilnil // it reported nothing
	}
	fact, err := v.d.Store.FactOf(v.ctx(), v.account(), event.SourceID, *event.Subject)
	if errors.Is(err, gateway.ErrNotFound) {
		return nil, nil //nolint:nilnil // nothing was told so far
	}
	return &fact, err
}

// factHref leads to what is known of the event's subject; empty for nothing.
func (v *visit) factHref(s story) string {
	if s.fact == nil {
		return ""
	}
	return v.at("facts", s.fact.ID.String())
}

// decisionView says why the event goes nowhere, and the way on; nil when it
// goes somewhere.
func (v *visit) decisionView(s story) *page.Decision {
	process := v.at("events", s.ID.String(), "process")
	rule := v.at("sources", s.SourceID.String(), "rule")
	switch s.Status {
	case gateway.EventRuleError:
		return &page.Decision{
			Tone: component.ToneBad, Title: "The source’s rule failed.", Process: process, Href: rule, Label: "Open the rule",
			Text: said(s.Decision) + "The event is kept, and was told to nobody. Mend the rule, then process the event again.",
		}
	case gateway.EventUnresolved:
		return &page.Decision{
			Tone: component.ToneWarn, Title: "What this event is about has not come.", Process: process, Href: rule, Label: "Open the rule",
			Text: said(s.Decision) + "It was looked for for 36 minutes. Process the event again once its subject has come in. If it never will, take “Waits for its subject” out of the rule first.",
		}
	case gateway.EventNoEndpoints:
		d := &page.Decision{Tone: component.ToneInfo, Process: process, Href: v.addHref("endpoints"), Label: "Add endpoint"}
		d.Title, d.Text = nobodyWanted(s.Event)
		return d
	case gateway.EventHeld:
		return &page.Decision{
			Tone: component.ToneInfo, Title: "Its source is paused.", Text: "The event waits, and goes on when the source is resumed.",
			Href: v.at("sources", s.SourceID.String()), Label: "Open the source",
		}
	case gateway.EventIgnored, gateway.EventDuplicateFact, gateway.EventStaleFact:
		return v.untold(s)
	case gateway.EventAccepted:
		return waits(s)
	case gateway.EventProcessed:
	}
	return nil
}

// untold is the decision over an event that was told to nobody, and needs nobody.
func (v *visit) untold(s story) *page.Decision {
	d := &page.Decision{Tone: component.ToneInfo, Title: component.Word(s.Status) + ".", Text: strings.TrimSpace(said(s.Decision))}
	switch s.Status {
	case gateway.EventDuplicateFact:
		d.Title = "It reports what was told before."
		d.Text = said(s.Decision) + "Nobody was told again. If it may be told more than once, let the states of the source’s rule repeat."
	case gateway.EventStaleFact:
		d.Title = "It comes too late."
		d.Text = said(s.Decision) + "Nobody was told. Which states are the last word, and which come before others, stands in the source’s rule."
	case gateway.EventIgnored:
		if !strings.HasPrefix(s.Type, gateway.OwnTypePrefix) {
			d.Title = "Nobody is to be told of it."
		}
	default:
	}
	if s.fact != nil {
		d.Href, d.Label = v.factHref(s), "What is known of it"
	}
	return d
}

// waits tells that an event is looked at again for want of its subject; nil for
// one that is being decided.
func waits(s story) *page.Decision {
	if s.WaitUntil == nil || s.Decision == "" {
		return nil
	}
	return &page.Decision{
		Tone: component.ToneInfo, Title: "It waits for its subject.",
		Text: said(s.Decision) + "It is told once something else has told of it, and is unresolved after 36 minutes.",
	}
}
