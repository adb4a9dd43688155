package dashboard

import (
	"strings"

	"github.com/rowlock/rowlock/internal/decide"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/page"
)

// unsent reads which endpoints asked for an event's type and did not get it for
// their filters, once it is decided.
func (v *visit) unsent(s story) ([]decide.Unsent, error) {
	if s.Status != gateway.EventProcessed && s.Status != gateway.EventNoEndpoints {
		return nil, nil
	}
	sent := map[gateway.EndpointID]bool{}
	for _, d := range s.deliveries {
		sent[d.EndpointID] = true
	}
	return v.d.Decide.Unsent(v.ctx(), s.Event, sent)
}

// unsentLines are what the page says of them.
func (v *visit) unsentLines(s story) []page.Unsent {
	lines := make([]page.Unsent, len(s.unsent))
	for i, u := range s.unsent {
		lines[i] = page.Unsent{
			Endpoint: endpointName(u.Endpoint), Href: v.atEndpoint(u.Endpoint), Text: whyUnsent(u, s.Event),
			Ask: address(v.at("events", s.ID.String(), "redeliver"), fieldEndpoint, u.Endpoint.ID.String()),
		}
	}
	return lines
}

// whyUnsent says why an endpoint did not get an event. A filter is asked as it
// is now: who changed the endpoint since is told so.
func whyUnsent(u decide.Unsent, e gateway.Event) string {
	switch {
	case u.Matches:
		return "Its filter lets this event through now, and did not when the event was decided."
	case u.Reason != "":
		return "Its filter could not be evaluated: " + u.Reason + "." + sinceThen(u, e)
	default:
		return "Its filter does not match." + sinceThen(u, e)
	}
}

func sinceThen(u decide.Unsent, e gateway.Event) string {
	if u.Endpoint.UpdatedAt.After(e.ID.Time()) {
		return " The endpoint was changed since; this is its filter as it is now."
	}
	return ""
}

// nobodyWanted titles an event that went to nobody: nobody asked for its type,
// or those who did have a filter.
func nobodyWanted(e gateway.Event) (title, text string) {
	if e.Decision == "" || strings.HasPrefix(e.Decision, "no endpoint asks") {
		return "No endpoint asked for " + e.Type + " when it was decided.", "Add one that does, or process the event again."
	}
	return sentence(e.Decision), "Change a filter, or process the event again."
}
