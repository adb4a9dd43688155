package dashboard

import (
	"strconv"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/web/page"
)

// paramSeen is when the newest failure was given up that somebody saw.
const paramSeen = "seen"

// failed are failures of an endpoint, of a cause, or of one cause at one
// endpoint, in one of the states that the page shows.
type failed struct {
	endpoint *gateway.EndpointID
	cause    *gateway.Cause
	// since is when the oldest event came in, or zero for all of them, seen when the newest failed.
	since, seen time.Time
	state       string
	// active tells that the endpoint is sent to.
	active bool
}

// endpointText and causeText are the two as they stand in an address; empty for
// all.
func (f failed) endpointText() string {
	if f.endpoint == nil {
		return ""
	}
	return f.endpoint.String()
}

func (f failed) causeText() string {
	if f.cause == nil {
		return ""
	}
	return causeParam(*f.cause)
}

// failureActs are the addresses of what can be done about failures.
func (v *visit) failureActs(of failed) (acts page.FailureActs) {
	switch of.state {
	case page.FailuresRetrying:
		acts.View = v.viewDeliveries(of, gateway.DeliveryPending)
		switch {
		case of.endpoint == nil:
		case of.active:
			acts.SendNow = v.at("endpoints", of.endpointText(), "send-now")
		default:
			acts.Resume = v.at("endpoints", of.endpointText(), "resume")
		}
	case page.FailuresDismissed:
		acts.View, acts.Recover = v.viewFailed(of), v.recoverFailed(of)
		acts.Restore = &page.FailureRestore{
			Action: v.at("failures", "restore"), Endpoint: of.endpointText(), Cause: of.causeText(), Next: v.here(),
		}
	default:
		acts.View, acts.Recover = v.viewFailed(of), v.recoverFailed(of)
		acts.Dismiss = withAll(v.at("failures", "dismiss"), paramEndpoint, of.endpointText(), paramCause, of.causeText(),
			paramSeen, of.seen.UTC().Format(time.RFC3339Nano), fieldNext, v.here())
	}
	return acts
}

// viewFailed lists the failed deliveries: those of one endpoint by themselves,
// those of a cause among all.
func (v *visit) viewFailed(of failed) string {
	if of.endpoint == nil {
		return v.viewDeliveries(of, gateway.DeliveryFailed)
	}
	return withAll(v.at("failures", of.endpointText()), paramCause, of.causeText())
}

// viewDeliveries lists deliveries in a state whose last attempt failed so.
func (v *visit) viewDeliveries(of failed, status gateway.DeliveryStatus) string {
	pairs := []string{paramStatus, string(status), paramEndpoint, of.endpointText(), paramRange, rangeAll}
	switch {
	case of.cause == nil:
	case of.cause.ErrorKind != "":
		pairs = append(pairs, paramCause, string(of.cause.ErrorKind))
	case of.cause.StatusCode != 0:
		pairs = append(pairs, paramCode, strconv.Itoa(of.cause.StatusCode))
	default:
		pairs = append(pairs, paramOutcome, string(gateway.OutcomeUnknown))
	}
	return withAll(v.at("deliveries"), pairs...)
}

// recoverFailed asks before failed deliveries are sent again: those of an
// endpoint, or those of a cause at whatever endpoint.
func (v *visit) recoverFailed(of failed) string {
	pairs := []string{paramSince, sinceParam(of.since)}
	switch {
	case of.cause == nil:
	case of.cause.ErrorKind == "" && of.cause.StatusCode != 0:
		pairs = append(pairs, paramCode, strconv.Itoa(of.cause.StatusCode))
	default:
		pairs = append(pairs, fieldKind, of.causeText())
	}
	if of.endpoint != nil {
		return withAll(v.at("endpoints", of.endpointText(), "recover"), pairs...)
	}
	return withAll(v.at("deliveries", "redeliver"), append(pairs, paramStatus, string(gateway.DeliveryFailed))...)
}
