package api

import (
	"context"
	"errors"
	"time"

	"github.com/rowlock/rowlock/internal/deliver"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/server/problem"
)

// FailuresBody says which failures. It is exported for the library, which sees no
// others where a type has them in it.
type FailuresBody struct {
	Endpoint   *string `json:"endpoint,omitempty" nullable:"true" doc:"Those of this endpoint, by id or uid. Left out: of every endpoint, for one cause." example:"billing"`
	ErrorKind  *string `json:"error_kind,omitempty" nullable:"true" enum:"dns,connect,tls,timeout,reset,blocked,too_large,protocol,disabled,unknown" doc:"Those to which no answer came, and why. Disabled: nothing was sent, since the endpoint was disabled and its failover got the event. Unknown: the answer was never recorded."`
	StatusCode *int    `json:"status_code,omitempty" nullable:"true" minimum:"100" maximum:"999" doc:"Those with this answer. With neither: every cause of the endpoint." example:"503"`
}

// dismissBody says which failures need nobody any more, and why.
type dismissBody struct {
	FailuresBody

	Note  *string `json:"note,omitempty" nullable:"true" doc:"Why, for those who look later: at most 500 characters." example:"Known outage of the partner, until Monday."`
	Until *string `json:"until,omitempty" nullable:"true" format:"date-time" doc:"The last_at that you saw: what was given up later stays open. Left out: the newest there is."`
}

// causeUnknown names failures whose last answer was never recorded.
const causeUnknown = "unknown"

// cause reads which cause is meant; nil is every cause.
func (b FailuresBody) cause() (*gateway.Cause, error) {
	switch {
	case b.ErrorKind != nil && b.StatusCode != nil:
		return nil, problem.At("body.status_code", "leave it out where there is an error_kind: no answer came")
	case b.StatusCode != nil:
		return &gateway.Cause{StatusCode: *b.StatusCode}, nil
	case b.ErrorKind == nil:
		return nil, nil //nolint:nilnil // every cause
	case *b.ErrorKind == causeUnknown:
		return &gateway.Cause{}, nil
	case gateway.ErrorKind(*b.ErrorKind).CanFailDelivery():
		return &gateway.Cause{ErrorKind: gateway.ErrorKind(*b.ErrorKind)}, nil
	default:
		return nil, problem.At("body.error_kind", "want one of dns, connect, tls, timeout, reset, blocked, too_large, protocol, disabled and unknown")
	}
}

// failures reads which failures are meant.
func (a *API) failures(ctx context.Context, who caller, body FailuresBody) (f deliver.Failures, err error) {
	if f.Cause, err = body.cause(); err != nil {
		return f, err
	}
	if body.Endpoint == nil {
		if f.Cause == nil {
			return f, problem.At("body.endpoint", "want an endpoint, an error_kind or a status_code")
		}
		return f, nil
	}
	id, err := a.endpointID(ctx, who, *body.Endpoint)
	if errors.Is(err, gateway.ErrNotFound) {
		return f, problem.At("body.endpoint", "want an endpoint's id or uid")
	}
	f.Endpoint = &id
	return f, err
}

func (a *API) dismissFailures(ctx context.Context, who caller, _ *nothing, body dismissBody) (*failureListReply, error) {
	f, err := a.failures(ctx, who, body.FailuresBody)
	if err != nil {
		return nil, err
	}
	d := deliver.Dismissal{Failures: f}
	if body.Note != nil {
		d.Note = *body.Note
	}
	if body.Until != nil {
		at, err := parseMoment(*body.Until)
		if err != nil {
			return nil, problem.At("body.until", "%s", err)
		}
		// What was seen was written in whole microseconds.
		d.Until = at.Truncate(time.Microsecond)
	}
	groups, err := a.Deliver.Dismiss(ctx, who.account(), who.actor(), d)
	if err != nil && !errors.Is(err, gateway.ErrNotFound) {
		return nil, err
	}
	return failureGroups(groups, "none", false), nil
}

// restoredView tells how many dismissals were taken back.
type restoredView struct {
	Restored int `json:"restored" doc:"How many groups were open again by this: none the second time."`
}

func (a *API) restoreFailures(ctx context.Context, who caller, _ *nothing, body FailuresBody) (*objectReply[restoredView], error) {
	f, err := a.failures(ctx, who, body)
	if err != nil {
		return nil, err
	}
	n, err := a.Deliver.Restore(ctx, who.account(), who.actor(), f)
	return object(n, err, func(n int) restoredView { return restoredView{n} })
}

// dueView tells how many deliveries were made due.
type dueView struct {
	Due int `json:"due" doc:"How many deliveries are due now that waited for a later attempt: at most 100,000 a call."`
}

func (a *API) sendNow(ctx context.Context, who caller, in *endpointPath, _ nothingBody) (*objectReply[dueView], error) {
	id, err := a.endpointID(ctx, who, in.ID)
	if err != nil {
		return nil, err
	}
	n, err := a.Deliver.SendNow(ctx, who.account(), who.actor(), id)
	return object(n, err, func(n int) dueView { return dueView{n} })
}
