package dashboard

import (
	"cmp"
	"strconv"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
	"github.com/rowlock/rowlock/web/layout"
	"github.com/rowlock/rowlock/web/page"
)

// causeUnknown is the cause of an unknown outcome in an address. The others
// are a status code, or the kind of an error.
const causeUnknown = "unknown"

// causeParam is a cause as it stands in an address.
func causeParam(c gateway.Cause) string {
	if c.StatusCode != 0 && c.ErrorKind == "" {
		return strconv.Itoa(c.StatusCode)
	}
	return cmp.Or(string(c.ErrorKind), causeUnknown)
}

// maxStatusCode is the largest that three digits can be.
const maxStatusCode = 999

// parseCause reads a cause in an address; nil is every cause, and stands for
// what is none.
func parseCause(text string) *gateway.Cause {
	code, err := strconv.Atoi(text)
	switch {
	case text == causeUnknown:
		return &gateway.Cause{}
	case err == nil && code > 0 && code <= maxStatusCode:
		return &gateway.Cause{StatusCode: code}
	case gateway.ErrorKind(text).CanFailDelivery():
		return &gateway.Cause{ErrorKind: gateway.ErrorKind(text)}
	default:
		return nil
	}
}

// showFailed is the page of an endpoint's failed deliveries, of one cause or
// of all.
func showFailed(v *visit) error {
	e, err := v.endpoint()
	if err != nil {
		return err
	}
	l := v.listing(v.at("failures", e.ID.String()), paramCause)
	cause := parseCause(l.get(paramCause))
	rows, err := v.d.Store.FailedDeliveries(v.ctx(), v.account(), e.ID, cause, asked[gateway.DeliveryID](l))
	if err != nil {
		return err
	}
	frame, _, err := v.frame("Failed deliveries", layout.SectionFailures)
	if err != nil {
		return err
	}
	view := page.FailedList{
		Frame: frame, Now: v.now(), Cause: cause, Manages: v.operates(), Back: v.here(),
		Endpoint: v.failedEndpoint(e.ID, store.EndpointLabel{URL: e.URL, Description: e.Description, State: e.State}),
	}
	rows, view.Newest, view.Older = shown(l, rows, func(d store.FailedDelivery) string { return d.ID.String() })
	for _, d := range rows {
		view.Rows = append(view.Rows, page.FailedRow{
			Href:    v.at("deliveries", d.ID.String()),
			EventID: d.EventID.String(), EventType: d.EventType,
			Cause: d.LastCause, Attempts: d.Attempts, CreatedAt: d.EventID.Time(), ClosedAt: valueOf(d.ClosedAt),
		})
	}
	if len(rows) > 0 {
		view.Recover = v.recoverFailed(failed{endpoint: &e.ID, cause: cause})
	}
	return v.page(page.FailedListPage(view))
}
