package dashboard

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
	"github.com/rowlock/rowlock/web/component"
	"github.com/rowlock/rowlock/web/layout"
	"github.com/rowlock/rowlock/web/page"
)

// endpoint is the one that the address names, by its id or its uid.
func (v *visit) endpoint() (gateway.Endpoint, error) {
	reference := v.Param("id")
	id, err := gateway.ParseID[gateway.EndpointID](reference)
	switch {
	case err == nil:
		return v.d.Store.Endpoint(v.ctx(), v.account(), id)
	case gateway.CheckUID(reference) == nil:
		return v.d.Store.EndpointByUID(v.ctx(), v.account(), reference)
	default:
		return gateway.Endpoint{}, err
	}
}

// postedEndpoint is the one that the address names, and the form that was sent
// about it.
func (v *visit) postedEndpoint() (gateway.Endpoint, form, error) {
	e, err := v.endpoint()
	if err != nil {
		return e, form{}, err
	}
	f, err := v.readForm()
	return e, f, err
}

// atEndpoint is the address of something of an endpoint.
func (v *visit) atEndpoint(e gateway.Endpoint, parts ...string) string {
	return v.at(append([]string{"endpoints", e.ID.String()}, parts...)...)
}

func endpointName(e gateway.Endpoint) string { return page.EndpointName(e.URL, e.Description) }

func showEndpoint(v *visit) error {
	e, err := v.endpoint()
	if err != nil {
		return err
	}
	frame, left, err := v.frame(endpointName(e), layout.SectionEndpoints)
	if err != nil {
		return err
	}
	if frame.Live = v.liveOfEndpoint(e.ID); e.Kind == gateway.EndpointListen {
		frame.Live = v.liveOfListener(e.ID)
	}
	view := page.Endpoint{
		Frame: frame, Now: v.now(), Endpoint: e, Manages: v.manages(), Operates: v.operates(),
		Server: page.EndpointDefaults{Schedule: v.d.Deliver.Schedule, Timeout: v.d.Deliver.Timeout},
	}
	l := v.figures(paramShow)
	err = atOnce(
		func() error { return v.addEndpointState(&view, l) },
		func() error { return v.addEndpointFailures(&view) },
		func() (err error) { view.Attempts, err = v.endpointAttempts(e, l); return err },
		func() (err error) { view.Secrets, err = v.endpointSecrets(e, left); return err },
		func() (err error) { view.Test, err = v.testedAttempt(e); return err },
	)
	if err != nil {
		return err
	}
	return v.page(page.EndpointPage(view))
}

// addEndpointState adds how the endpoint does: what waits, what happened, and
// why nothing arrives.
func (v *visit) addEndpointState(view *page.Endpoint, l listing) error {
	e := view.Endpoint
	all, err := v.d.Store.EndpointHealth(v.ctx(), v.account(), []gateway.EndpointID{e.ID})
	if err != nil {
		return err
	}
	health := all[e.ID]
	view.State = page.EndpointState(e, health.Recent, view.Now)
	if view.At, err = v.endpointNow(e, health); err != nil {
		return err
	}
	if view.Listener, err = v.listenerOf(e); err != nil {
		return err
	}
	if view.Numbers, view.Chart, err = v.endpointNumbers(e, l); err != nil {
		return err
	}
	if view.Failover, err = v.failoverOf(e); err != nil {
		return err
	}
	view.Trouble, err = v.endpointTrouble(e, view.Listener, health, view.Now)
	return err
}

// endpointTrouble says why nothing arrives; nil when all is well.
func (v *visit) endpointTrouble(e gateway.Endpoint, l page.EndpointListener, h store.Health, now time.Time) (*page.EndpointTrouble, error) {
	switch {
	case e.State == gateway.EndpointPaused:
		who, err := v.whoPaused(e)
		return &page.EndpointTrouble{
			Tone: component.ToneInfo, Resume: true,
			Title: "Paused" + who + " since " + page.ClockText(e.StateChangedAt, now) + "." + openText(h.Waiting, "held"),
			Text:  "Nothing is sent. What comes in is held, and goes on when somebody resumes it.",
		}, err
	case e.State == gateway.EndpointDisabled:
		return &page.EndpointTrouble{
			Tone: component.ToneBad, Resume: true,
			Title: "Disabled by Rowlock since " + page.ClockText(e.StateChangedAt, now) + ": " + e.DisabledReason + "." + openText(h.Waiting, "held"),
			Text:  causeText(h.LastFailure()) + whileDisabled(e),
		}, nil
	case e.Kind == gateway.EndpointListen && !l.Connected:
		return &page.EndpointTrouble{
			Tone: component.ToneInfo, Title: "Nobody listens." + openText(h.Waiting, "waiting"),
			Text: "What comes in waits, without an attempt, until somebody listens.",
		}, nil
	case e.ConsecutiveFailures > 0:
		return &page.EndpointTrouble{
			Tone: component.ToneBad, Title: "Failing since " + page.ClockText(failingSince(e), now) + "." + openText(h.Waiting, "waiting"),
			Text: causeText(h.LastFailure()) + fmt.Sprintf("%s disables the endpoint after %s in a row, and has counted %s: at most one a second counts.",
				map[bool]string{true: "Rowlock keeps retrying. It", false: "Rowlock"}[h.Waiting > 0], component.Plural(v.d.Deliver.DisableAfter, "failure", "failures"), component.Number(e.ConsecutiveFailures)),
		}, nil
	}
	return nil, nil //nolint:nilnil // all is well
}

// whileDisabled says what becomes of what is for a disabled endpoint.
func whileDisabled(e gateway.Endpoint) string {
	if e.Failover != nil {
		return "What comes in goes to its failover at once. Fix the receiver, then resume."
	}
	return "What comes in is held. Fix the receiver, then resume: what is held goes on."
}

func failingSince(e gateway.Endpoint) time.Time {
	if e.FailingSince == nil {
		return e.UpdatedAt
	}
	return *e.FailingSince
}

// openText says how many deliveries wait or are held, as a sentence behind
// another.
func openText(n int, what string) string {
	switch {
	case n == 0:
		return ""
	case n == 1:
		return " 1 delivery is " + what + "."
	case n >= store.MaxWaitingCounted:
		return " More than " + component.Number(n-1) + " deliveries are " + what + "."
	default:
		return " " + component.Number(n) + " deliveries are " + what + "."
	}
}

// causeText says why the last attempt failed, as a sentence before another.
func causeText(a *gateway.Attempt) string {
	switch {
	case a == nil:
		return ""
	case a.StatusCode != 0:
		return fmt.Sprintf("The server answers %d %s. ", a.StatusCode, http.StatusText(a.StatusCode))
	case a.Detail != "":
		return component.Visible(a.Detail) + " "
	default:
		return "The last answer was not recorded. "
	}
}

// auditLooked is how far back in what was done to an endpoint is looked for who
// paused it.
const auditLooked = 50

// whoPaused names who paused an endpoint, as part of a sentence; nothing if it
// is not known any more.
func (v *visit) whoPaused(e gateway.Endpoint) (string, error) {
	entries, err := v.d.Store.AuditOf(v.ctx(), v.account(), []string{e.ID.String()}, auditLooked)
	if err != nil {
		return "", err
	}
	for _, entry := range entries {
		if entry.Action != "endpoint.pause" || entry.ActorName == "" {
			continue
		}
		if _, isKey := entry.Actor.Key(); isKey {
			return " with the API key " + entry.ActorName, nil
		}
		return " by " + entry.ActorName, nil
	}
	return "", nil
}

// testedAttempt is the answer to the test that led here; nil is none, or one
// that is not this endpoint's.
func (v *visit) testedAttempt(e gateway.Endpoint) (*page.EndpointTest, error) {
	id, err := gateway.ParseID[gateway.AttemptID](v.QueryParam(paramTested))
	if err != nil {
		return nil, nil //nolint:nilerr,nilnil // there was no test
	}
	attempt, err := v.d.Store.Attempt(v.ctx(), v.account(), id)
	if isMissing(err) || errors.Is(err, gateway.ErrExpired) || err == nil && attempt.EndpointID != e.ID {
		return nil, nil //nolint:nilnil // the address was made up, or is old
	}
	if err != nil {
		return nil, err
	}
	event, err := v.d.Store.Event(v.ctx(), v.account(), attempt.EventID)
	if err != nil && !isMissing(err) && !errors.Is(err, gateway.ErrExpired) {
		return nil, err
	}
	return &page.EndpointTest{Attempt: attempt, EventType: event.Type}, nil
}
