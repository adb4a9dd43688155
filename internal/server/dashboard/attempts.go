package dashboard

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/layout"
	"github.com/rowlock/rowlock/web/page"
)

const (
	paramOutcome = "outcome"
	paramCode    = "code"
)

// attemptParams are what the list of attempts is narrowed by, besides time.
var attemptParams = []string{paramOutcome, paramCode, paramCause, paramEndpoint}

// listAttempts is the page of every attempt.
func listAttempts(v *visit) error {
	l := v.listing(v.at("attempts"), attemptParams...)
	if l.untidy {
		return v.redirect(l.address(l.query))
	}
	p := l.period(usualRange)
	rows, err := v.attempts(l, p)
	if err != nil {
		return err
	}
	frame, _, err := v.frame("Deliveries", layout.SectionDeliveries)
	if err != nil {
		return err
	}
	view := page.Attempts{SentList: v.sentList(frame, l)}
	view.Period, view.Wider, view.Filtered = l.filter(p, "Started", usualRange), l.wider(p), l.has(attemptParams...)
	rows, view.Newest, view.Older = shown(l, rows, attemptPlace)
	if view.Newest == "" {
		view.Live = v.live()
	}
	for _, row := range rows {
		view.Rows = append(view.Rows, v.attemptLine(row))
	}
	if err := v.sentChoices(l, &view.SentList); err != nil {
		return err
	}
	if len(view.Rows) == 0 {
		first, err := v.d.Store.Attempts(v.ctx(), v.account(), store.AttemptFilter{}, nil, 1)
		if err != nil {
			return err
		}
		view.None = len(first) == 0
	}
	return v.page(page.AttemptsPage(view))
}

// attempts reads a page of attempts, and one more.
func (v *visit) attempts(l listing, p period) ([]store.AttemptRow, error) {
	filter, ok := l.attemptFilter()
	if !ok {
		return nil, nil
	}
	filter.Since, filter.Until = p.since, p.until
	return v.d.Store.AttemptRows(v.ctx(), v.account(), filter, readAttemptPlace(l.get(paramAfter)), pageRows+1)
}

// attemptFilter is what the list is narrowed by; not ok when nothing can match.
func (l listing) attemptFilter() (f store.AttemptFilter, ok bool) {
	if outcome := gateway.Outcome(l.get("outcome")); slices.Contains(gateway.Outcomes, outcome) {
		f.Outcome = outcome
	}
	if id, err := gateway.ParseID[gateway.EndpointID](l.get("endpoint")); err == nil {
		f.Endpoint = &id
	} else if l.has("endpoint") {
		return f, false
	}
	if kind := gateway.ErrorKind(l.get(paramCause)); slices.Contains(gateway.ErrorKinds, kind) {
		f.Cause = &gateway.Cause{ErrorKind: kind}
	}
	return l.codeFilter(f)
}

// codeFilter adds the status of the answer: 2xx are those that succeeded, of
// which single ones are not told apart.
func (l listing) codeFilter(f store.AttemptFilter) (store.AttemptFilter, bool) {
	text := strings.ToLower(l.get("code"))
	switch code, err := strconv.Atoi(text); {
	case text == "":
		return f, !l.has("code")
	case text == "2xx":
		if f.Outcome == "" {
			f.Outcome = gateway.OutcomeSucceeded
		}
		return f, f.Outcome == gateway.OutcomeSucceeded && f.Cause == nil
	case err != nil, code < 100, code > 999, f.Cause != nil:
		return f, false
	default:
		f.Cause = &gateway.Cause{StatusCode: code}
		return f, true
	}
}

// sentList begins a list of what is sent.
func (v *visit) sentList(frame layout.Frame, l listing) page.SentList {
	return page.SentList{
		Frame: frame, Now: v.now(), Path: l.path, Views: v.deliveryViews(l), Clear: l.cleared(),
		Events: v.at("events"), NewEndpoint: v.addHref("endpoints"),
	}
}

// sentChoices adds what the filters offer that both lists have.
func (v *visit) sentChoices(l listing, view *page.SentList) error {
	outcomes := make([]component.Option, len(gateway.Outcomes))
	for i, o := range gateway.Outcomes {
		outcomes[i] = component.Option{Value: string(o), Label: component.Word(o)}
	}
	causes := make([]component.Option, len(gateway.ErrorKinds))
	for i, k := range gateway.ErrorKinds {
		causes[i] = component.Option{Value: string(k), Label: page.CauseName(gateway.Cause{ErrorKind: k})}
	}
	endpoints, err := v.endpointOptions()
	if err != nil {
		return err
	}
	view.Outcomes, view.OutcomeText = l.pick("outcome", outcomes)
	view.Causes, view.CauseText = l.pick(paramCause, causes)
	view.Endpoints, view.EndpointText = l.pick("endpoint", endpoints)
	if view.EndpointText == "" {
		view.EndpointText = l.get("endpoint")
	}
	view.Outcomes, view.Causes, view.Endpoints = orAny(view.Outcomes), orAny(view.Causes), orAny(view.Endpoints)
	view.Code = l.text("Answer", "code", "A code such as 503, or 2xx for all that succeeded.")
	return nil
}

// attemptLine shows an attempt as a line of the list.
func (v *visit) attemptLine(row store.AttemptRow) page.AttemptLine {
	line := page.AttemptLine{
		ID: row.ID().String(), Href: v.attemptHref(row.DeliveryID, row.N), Code: row.StatusCode,
		Type: row.EventType, Event: row.EventID.String(), Endpoint: called(row.Endpoint), N: row.N,
		Trigger: triggerWords(row.Trigger), Took: row.Duration, StartedAt: row.StartedAt,
	}
	if row.Endpoint.Description != "" {
		line.Host = page.EndpointAddress(row.Endpoint.URL)
	}
	line.Failure, line.Tone = failure(row.Outcome, row.Cause())
	return line
}

// attemptHref is where an attempt is shown, open.
func (v *visit) attemptHref(delivery gateway.DeliveryID, n int) string {
	return v.at("deliveries", delivery.String()) + "?attempt=" + strconv.Itoa(n) + "#" + gateway.DeriveAttemptID(delivery, n).String()
}

// attemptPlace is an attempt's place in the list, which is ordered by when
// they started.
func attemptPlace(row store.AttemptRow) string {
	return strconv.FormatInt(row.StartedAt.UnixMicro(), 10) + "-" + row.ID().String()
}

// readAttemptPlace undoes it; what is no place is the beginning.
func readAttemptPlace(text string) *store.AttemptCursor {
	micros, id, _ := strings.Cut(text, "-")
	at, err := strconv.ParseInt(micros, 10, 64)
	if err != nil || at < 0 || at > maxMicros {
		return nil
	}
	attempt, err := gateway.ParseID[gateway.AttemptID](id)
	if err != nil {
		return nil
	}
	delivery, n, err := gateway.SplitAttemptID(attempt)
	if err != nil {
		return nil
	}
	return &store.AttemptCursor{StartedAt: time.UnixMicro(at), Delivery: delivery, N: n}
}

// maxMicros is the last time that the database has room for, for a place that
// somebody made up.
var maxMicros = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC).UnixMicro()
