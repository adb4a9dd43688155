package dashboard

import (
	"slices"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
	"github.com/rowlock/rowlock/web/page"
)

// relatedRows is how many other events a page shows that have something in
// common with its own.
const relatedRows = 5

// related are other events about the same subject, and with the same key: that
// of another source.
func (v *visit) related(e gateway.Event) (all []page.Related, err error) {
	if e.Subject != nil {
		if all, err = v.addRelated(all, e, "subject", *e.Subject, store.EventFilter{Subject: *e.Subject}); err != nil {
			return nil, err
		}
	}
	if e.Key != nil {
		return v.addRelated(all, e, "key", string(e.Key), store.EventFilter{Key: e.Key})
	}
	return all, nil
}

func (v *visit) addRelated(all []page.Related, e gateway.Event, what, value string, f store.EventFilter) ([]page.Related, error) {
	events, err := v.d.Store.Events(v.ctx(), v.account(), f, store.Page[gateway.EventID]{Limit: relatedRows + 2})
	if err != nil {
		return nil, err
	}
	events = slices.DeleteFunc(events, func(other gateway.Event) bool { return other.ID == e.ID })
	if len(events) == 0 {
		return all, nil
	}
	r := page.Related{What: what, Value: value, Href: v.listing(v.at("events")).with(what, value), More: len(events) > relatedRows}
	r.Rows, err = v.eventRows(events[:min(len(events), relatedRows)])
	return append(all, r), err
}
