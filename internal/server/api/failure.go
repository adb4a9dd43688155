package api

import (
	"context"
	"slices"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// CauseView is why deliveries failed. With the outcome unknown, neither of the
// others is there. It is exported for the library, which sees no others where a
// type has them in it.
type CauseView struct {
	Outcome    *gateway.Outcome   `json:"outcome,omitempty" enum:"rejected,unreachable,unknown" doc:"How the last attempt ended."`
	ErrorKind  *gateway.ErrorKind `json:"error_kind,omitempty" enum:"dns,connect,tls,timeout,reset,blocked,too_large,protocol,disabled" doc:"Why no answer came. Disabled: nothing was sent, since the endpoint was disabled and its failover got the event."`
	StatusCode *int               `json:"status_code,omitempty" doc:"The answer's status, where one came."`
}

func viewCause(c gateway.Cause) CauseView {
	return CauseView{Outcome: new(c.Outcome()), ErrorKind: optional(c.ErrorKind), StatusCode: optional(c.StatusCode)}
}

// failureView is a group of failed deliveries.
type failureView struct {
	CauseView

	EndpointID    *gateway.EndpointID `json:"endpoint_id,omitempty" doc:"Whose deliveries they are; left out where groups are of a cause."`
	Count         int                 `json:"count" doc:"How many deliveries it has."`
	FirstAt       timestamp           `json:"first_at" doc:"When the first was given up; of those that are retried, when its event came in."`
	LastAt        timestamp           `json:"last_at" doc:"When the last was given up; of those that are retried, when its event came in."`
	OldestEventAt timestamp           `json:"oldest_event_at" doc:"When the oldest event came in: a recovery since then takes all."`
	DeliveryID    gateway.DeliveryID  `json:"delivery_id" doc:"The delivery of the newest event."`
	NextAttemptAt *timestamp          `json:"next_attempt_at,omitempty" doc:"When the first of those that are retried is due."`
	Dismissal     *dismissalView      `json:"dismissal,omitempty" doc:"The last one of the group, also where it failed again since."`
	Parts         []failurePartView   `json:"parts,omitempty" doc:"What a group of several is made of, the largest part first."`
}

// failurePartView is a part of a group: a cause of an endpoint, or an endpoint
// of a cause.
type failurePartView struct {
	CauseView

	EndpointID gateway.EndpointID `json:"endpoint_id" doc:"Whose deliveries they are."`
	Count      int                `json:"count" doc:"How many of the group's deliveries it has."`
}

// dismissalView says that somebody has looked at failures.
type dismissalView struct {
	Note  string        `json:"note" doc:"Why, in their words."`
	Actor gateway.Actor `json:"actor" doc:"The person's or the key's id."`
	At    timestamp     `json:"at" doc:"When they did."`
	Until timestamp     `json:"until" doc:"When the newest failure was given up that it is about. With a later one the group is open again."`
}

func viewFailure(g store.FailureGroup) failureView {
	view := failureView{
		CauseView: viewCause(g.Cause), EndpointID: &g.EndpointID, Count: g.Count,
		FirstAt: timestamp(g.First), LastAt: timestamp(g.Last), OldestEventAt: timestamp(g.Oldest.Time()),
		DeliveryID: g.Newest[0], NextAttemptAt: optionalTime(g.NextAttemptAt),
	}
	if d := g.Dismissal; d != nil {
		view.Dismissal = &dismissalView{Note: d.Note, Actor: d.Actor, At: timestamp(d.At), Until: timestamp(d.Until)}
	}
	return view
}

// listFailuresInput narrows and groups failures.
type listFailuresInput struct {
	Group    string `query:"group" enum:"none,endpoint,cause" default:"none" doc:"What a group is: one cause of one endpoint, all of an endpoint, or all of a cause."`
	State    string `query:"state" enum:"open,retrying,dismissed" default:"open" doc:"Open were given up and nobody has dismissed them. Retrying failed at their last attempt and are still to be tried."`
	Endpoint string `query:"endpoint" doc:"Only those of this endpoint, by id or uid."`
	Since    moment `query:"since" doc:"Only those of events from this time on (RFC 3339)."`
}

// failureListReply is a list of groups that has one part only.
type failureListReply struct{ Body failureList }

type failureList struct {
	ListOf[failureView]

	Truncated bool `json:"truncated" doc:"There are more failures than the newest 10,000 that were looked at."`
}

func (a *API) listFailures(ctx context.Context, who caller, in *listFailuresInput) (*failureListReply, error) {
	filter := store.FailureFilter{Since: time.Time(in.Since)}
	var err error
	if filter.Endpoint, err = a.endpointFilter(ctx, who, in.Endpoint); err != nil {
		return nil, err
	}
	read := a.Store.Failures
	if in.State == "retrying" {
		read = a.Store.Retrying
	}
	groups, more, err := read(ctx, who.account(), filter)
	if err != nil {
		return nil, err
	}
	if in.State != "retrying" {
		groups = slices.DeleteFunc(groups, func(g store.FailureGroup) bool { return g.Dismissed() != (in.State == "dismissed") })
	}
	return failureGroups(groups, in.Group, more), nil
}

// failureGroups answers with groups that are put together.
func failureGroups(groups []store.FailureGroup, by string, more bool) *failureListReply {
	out := &failureListReply{Body: failureList{Truncated: more}}
	out.Body.Data = []failureView{}
	for _, g := range groups {
		out.Body.add(by, g)
	}
	return out
}

// add adds a group, or makes it part of the one it belongs to. Groups come with
// the largest first.
func (l *failureList) add(group string, g store.FailureGroup) {
	view := viewFailure(g)
	if group == "none" {
		l.Data = append(l.Data, view)
		return
	}
	part := failurePartView{CauseView: view.CauseView, EndpointID: g.EndpointID, Count: g.Count}
	if group == "endpoint" {
		view.CauseView = CauseView{}
	} else {
		view.EndpointID = nil
	}
	for i := range l.Data {
		if l.Data[i].sameAs(view) {
			l.Data[i].merge(view, part)
			return
		}
	}
	view.Dismissal, view.Parts = nil, []failurePartView{part}
	l.Data = append(l.Data, view)
}

// sameAs tells whether two views are of one endpoint, or of one cause.
func (v failureView) sameAs(other failureView) bool {
	return same(v.EndpointID, other.EndpointID) && same(v.ErrorKind, other.ErrorKind) && same(v.StatusCode, other.StatusCode)
}

func same[T comparable](a, b *T) bool {
	return a == nil && b == nil || a != nil && b != nil && *a == *b
}

// merge adds another view of the same group.
func (v *failureView) merge(other failureView, part failurePartView) {
	v.Count += other.Count
	v.Parts = append(v.Parts, part)
	if time.Time(other.FirstAt).Before(time.Time(v.FirstAt)) {
		v.FirstAt = other.FirstAt
	}
	if time.Time(other.LastAt).After(time.Time(v.LastAt)) {
		v.LastAt = other.LastAt
	}
	if time.Time(other.OldestEventAt).Before(time.Time(v.OldestEventAt)) {
		v.OldestEventAt = other.OldestEventAt
	}
	if other.DeliveryID.Compare(v.DeliveryID) > 0 {
		v.DeliveryID = other.DeliveryID
	}
	if n := other.NextAttemptAt; n != nil && (v.NextAttemptAt == nil || time.Time(*n).Before(time.Time(*v.NextAttemptAt))) {
		v.NextAttemptAt = n
	}
}
