package dashboard

import (
	"net/url"
	"time"

	"github.com/rowlock/rowlock/internal/store"
	"github.com/rowlock/rowlock/web/page"
)

// busiestRows is how many types the overview shows.
const busiestRows = 6

// addBusiest adds the types of which most came in during the chosen time, which
// is counted by the hour.
func (v *visit) addBusiest(view *page.Overview, chosen chartSpan) error {
	length := max(time.Duration(chosen.steps)*chosen.step, usageStep)
	w := store.LastSteps(view.Now, int(length/usageStep), usageStep)
	types, err := v.d.Store.BusiestTypes(v.ctx(), v.account(), w, busiestRows)
	if err != nil {
		return err
	}
	all, err := v.d.Store.Received(v.ctx(), v.account(), store.Window{Since: w.Since, Until: w.Until, Step: length})
	if err != nil {
		return err
	}
	view.BusiestIn = "in the last " + chosen.words
	if length == usageStep {
		view.BusiestIn = "since " + w.Since.UTC().Format("15:04") + " UTC"
	}
	for _, t := range types {
		row := page.BusyType{Type: t.Type, Events: t.Events, Href: v.at("events") + "?" + url.Values{"type": {t.Type}, paramRange: {eventRange(length)}}.Encode()}
		for _, r := range all {
			row.All += r.Events
		}
		view.Busiest = append(view.Busiest, row)
	}
	return nil
}

// eventRange is the usual period of events that holds a length of time.
func eventRange(length time.Duration) string {
	for _, preset := range presets {
		if preset.length >= length {
			return preset.name
		}
	}
	return rangeAll
}
