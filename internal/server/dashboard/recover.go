package dashboard

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/operate"
	"github.com/rowlock/rowlock/internal/store"
	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/layout"
	"github.com/rowlock/rowlock/web/page"
)

const (
	recoverFailed  = "failed"
	recoverMissing = "missing"
	recoverBoth    = "both"

	// sinceCustom is the choice of a time that is entered.
	sinceCustom = "custom"
	// sinceDelivery names a delivery: all since that one.
	sinceDelivery = "since_delivery"
	fieldSpeed    = "per_second"
	// justResumed is how long after it was resumed an endpoint is offered to be
	// tried with one.
	justResumed = 30 * time.Minute
)

// recovery is what somebody asks to recover at an endpoint, as the address or
// the form has it.
type recovery struct {
	what, since, from, speed string
	kind, code               string
	// request is what it means.
	request operate.Request
}

// readRecovery reads what is asked. What cannot be read is what is usual.
func (v *visit) readRecovery(values url.Values, e gateway.Endpoint) (recovery, error) {
	r := recovery{
		what: values.Get("what"), since: values.Get(paramSince), from: values.Get("from"), speed: values.Get(fieldSpeed),
		kind: values.Get("kind"), code: values.Get("code"),
	}
	if !slices.Contains([]string{recoverFailed, recoverMissing, recoverBoth}, r.what) {
		r.what = recoverFailed
	}
	if id, err := gateway.ParseID[gateway.DeliveryID](values.Get(sinceDelivery)); err == nil {
		r.since = id.Time().Format(time.RFC3339Nano)
	}
	if r.since == "" {
		r.since = usualSince(e, v.now())
	}
	r.request.Filter = gateway.OperationFilter{Endpoint: &e.ID}
	if cause := parseCause(r.kind); cause != nil {
		r.addCause(*cause)
	} else if cause := parseCause(r.code); cause != nil {
		r.addCause(*cause)
	}
	// What is no number is no limit.
	if r.request.PerSecond, _ = strconv.Atoi(r.speed); r.request.PerSecond < 0 || r.request.PerSecond > gateway.MaxOperationPace {
		r.request.PerSecond = 0
	}
	var err error
	r.request.Filter.Since, err = r.sinceTime(v.now())
	return r, err
}

func (r *recovery) addCause(c gateway.Cause) {
	f := &r.request.Filter
	f.ErrorKind, f.StatusCode = c.ErrorKind, c.StatusCode
	if c == (gateway.Cause{}) {
		f.Outcome = gateway.OutcomeUnknown
	}
	r.what = recoverFailed
}

// beforeFailing is how long before its endpoint's first failure in a row an
// event may have come in that failed with it: it was queued, or on its way.
const beforeFailing = time.Hour

// usualSince is from when on an endpoint's failures are recovered if nobody
// says: the shortest period from the last day on that begins before it failed.
func usualSince(e gateway.Endpoint, now time.Time) string {
	failing := now
	if e.FailingSince != nil {
		failing = e.FailingSince.Add(-beforeFailing)
	}
	for _, p := range presets[1:] {
		if now.Add(-p.length).Before(failing) {
			return p.name
		}
	}
	return rangeAll
}

// errNoTime tells that a time was not entered, or cannot be read.
var errNoTime = gateway.Invalid("from", "enter a date and a time")

// sinceTime is the time from which on things are recovered.
func (r *recovery) sinceTime(now time.Time) (time.Time, error) {
	for _, p := range presets {
		switch {
		case p.name != r.since:
		case p.length == 0:
			return time.Unix(0, 0).UTC(), nil
		default:
			return now.Add(-p.length), nil
		}
	}
	text := r.since
	if text == sinceCustom {
		text = r.from
	}
	at := readTime(text)
	if at.IsZero() {
		return now.Add(-24 * time.Hour), errNoTime
	}
	return at, nil
}

// options are the choices of from when on.
func (r *recovery) options(e gateway.Endpoint, now time.Time) []component.Option {
	var options []component.Option
	for _, p := range presets {
		options = append(options, component.Option{Value: p.name, Label: p.text, Selected: p.name == r.since})
	}
	if e.FailingSince != nil {
		value := e.FailingSince.UTC().Format(time.RFC3339Nano)
		options = append(options, component.Option{
			Value: value, Label: "First failure in a row, " + page.ClockText(*e.FailingSince, now), Selected: value == r.since,
		})
	}
	chosen := slices.ContainsFunc(options, func(o component.Option) bool { return o.Selected })
	if at := readTime(r.since); !chosen && !at.IsZero() {
		options = append(options, component.Option{Value: at.Format(time.RFC3339Nano), Label: page.ClockText(at, now), Selected: true})
		chosen = true
	}
	return append(options, component.Option{Value: sinceCustom, Label: "A time of your own", Selected: !chosen})
}

func askRecover(v *visit) error {
	e, err := v.endpoint()
	if err != nil {
		return err
	}
	r, err := v.readRecovery(v.QueryParams(), e)
	if err != nil && r.since != sinceCustom {
		r.since = usualRange
	}
	return v.askRecovery(http.StatusOK, e, r, nil)
}

// sinceAll tells that a time leaves nothing out: it is zero, or the first that
// "all time" stands for.
func sinceAll(at time.Time) bool { return at.Unix() <= 0 }

// sinceParam is a time from which on things are recovered as it stands in an
// address.
func sinceParam(at time.Time) string {
	if sinceAll(at) {
		return rangeAll
	}
	return at.UTC().Format(time.RFC3339Nano)
}

// askRecovery asks, with how many there are.
func (v *visit) askRecovery(status int, e gateway.Endpoint, r recovery, wrong page.Errors) error {
	q := page.RecoverQuestion{
		EndpointQuestion: v.aboutEndpoint(e), What: r.what, Since: r.options(e, v.now()), CustomShown: r.since == sinceCustom,
		Custom: fieldOfTime(r.request.Filter.Since), Speed: page.SpeedOptions(strconv.Itoa(r.request.PerSecond)), Pace: r.request.PerSecond,
		First: e.State == gateway.EndpointActive && (e.ConsecutiveFailures > 0 || v.now().Sub(e.StateChangedAt) < justResumed),
	}
	q.Errors, q.Failover = wrong, e.Failover != nil
	if e.State != gateway.EndpointActive {
		q.State = string(e.State)
	}
	f := r.request.Filter
	if cause := f.Cause(); cause != nil {
		q.Cause = "Only those whose last attempt failed because of " + page.CauseName(*cause) + "."
	} else if f.Outcome != "" {
		q.Cause = "Only those whose last answer was never recorded."
	}
	for _, field := range []struct{ name, value string }{{"kind", r.kind}, {"code", r.code}} {
		if field.value != "" && q.Cause != "" {
			q.Hidden = append(q.Hidden, component.Option{Label: field.name, Value: field.value})
		}
	}
	if err := v.countRecovery(r, &q); err != nil {
		return err
	}
	return v.askAgain(status, "Recover "+endpointName(e), layout.SectionEndpoints, page.RecoverAsk(q))
}

// countRecovery counts both kinds, so that a person can choose.
func (v *visit) countRecovery(r recovery, q *page.RecoverQuestion) (err error) {
	var exact bool
	request := r.request
	request.Kind = gateway.OperationRecoverFailed
	if q.Failed, exact, err = v.d.Operate.Count(v.ctx(), v.account(), request); err != nil {
		return err
	}
	q.FailedMore, q.First = !exact, q.First && q.Failed > 0
	if q.Cause != "" {
		return nil
	}
	request.Kind = gateway.OperationRecoverMissing
	q.Missing, exact, err = v.d.Operate.Count(v.ctx(), v.account(), request)
	q.MissingMore = !exact
	return err
}

// recoverEndpoint starts what was asked for, or sends one first.
func recoverEndpoint(v *visit) error {
	e, f, err := v.postedEndpoint()
	if err != nil {
		return err
	}
	r, err := v.readRecovery(f.values, e)
	if err != nil {
		f.take(err, map[string]string{"from": "from"}, nil)
	}
	if !f.ok() {
		r.since = sinceCustom
		return v.askRecovery(http.StatusUnprocessableEntity, e, r, f.errors)
	}
	if f.checked("first") {
		return v.sendOneFirst(e, r)
	}
	kinds := []gateway.OperationKind{gateway.OperationRecoverFailed}
	switch r.what {
	case recoverMissing:
		kinds = []gateway.OperationKind{gateway.OperationRecoverMissing}
	case recoverBoth:
		kinds = append(kinds, gateway.OperationRecoverMissing)
	}
	var started []gateway.Operation
	for _, kind := range kinds {
		r.request.Kind = kind
		o, err := v.d.Operate.Start(v.ctx(), v.account(), v.actor(), r.request)
		if errors.Is(err, gateway.ErrLimitReached) {
			return v.refused(v.at("operations"), tooManyOpen)
		}
		if err != nil {
			return err
		}
		started = append(started, o)
	}
	if len(started) > 1 {
		return v.done(v.at("operations"), "Started: one operation for what failed, and one for what was never created.")
	}
	return v.redirect(v.at("operations", started[0].ID.String()))
}

// sendOneFirst sends the newest of those that failed, so that a person sees
// whether the endpoint is well before it gets the others.
func (v *visit) sendOneFirst(e gateway.Endpoint, r recovery) error {
	groups, _, err := v.d.Store.Failures(v.ctx(), v.account(), store.FailureFilter{
		Endpoint: &e.ID, Cause: r.request.Filter.Cause(), Since: r.request.Filter.Since,
	})
	if err != nil {
		return err
	}
	if len(groups) == 0 {
		return v.refused(v.atEndpoint(e), "Not sent: nothing has failed in that time.")
	}
	newest := slices.MaxFunc(groups, func(a, b store.FailureGroup) int { return a.Newest[0].Compare(b.Newest[0]) })
	now, err := v.d.Deliver.Redeliver(v.ctx(), v.account(), v.actor(), newest.Newest[0], nil, "")
	if why := whyNotSent(now, err); why != "" {
		return v.refused(v.atEndpoint(e), why)
	}
	if err != nil {
		return err
	}
	return v.done(v.at("deliveries", now.ID.String()), "One is sent now. If it is delivered, go on and recover the others.")
}
