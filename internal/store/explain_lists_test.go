package store_test

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/store"
)

// listed is how many rows each list asks for.
const listed = 50

// lists asks for every list by every filter, alone and with the endpoint, in
// each part.
func (x *explained) lists() []call {
	return slices.Concat(x.eventLists(), x.sentLists(), x.deliveryLists(), x.attemptLists(), x.requestLists(), x.quietLists())
}

// part is a place in a list.
type part struct {
	name         string
	cursor       bool
	since, until time.Time
}

func (x *explained) parts() []part {
	since, until := x.now.Add(-30*time.Hour), x.now.Add(-20*time.Hour)
	return []part{
		{name: "newest"},
		{name: "next", cursor: true},
		{name: "since", since: since},
		{name: "between", since: since, until: until},
	}
}

// pageOf is a part of a list that is ordered by ids.
func pageOf[I gateway.AnyID](p part, cursor I) store.Page[I] {
	page := store.Page[I]{Since: p.since, Until: p.until, Limit: listed}
	if p.cursor {
		page.Before = &cursor
	}
	return page
}

func (x *explained) eventLists() (all []call) {
	filters := map[string]store.EventFilter{
		"all":             {},
		"type":            {Type: x.event.Type},
		"subject":         {Subject: *x.event.Subject},
		"key":             {Key: x.event.Key},
		"source":          {Source: &x.event.SourceID},
		"type and source": {Type: x.event.Type, Source: &x.event.SourceID},
		"type and status": {Type: x.event.Type, Status: gateway.EventRuleError},
		"no type":         {Type: "no.such"},
		"no subject":      {Subject: "none"},
		"no key":          {Key: []byte("none")},
		"quiet source":    {Source: &x.quiet},
	}
	for _, status := range gateway.EventStatuses {
		filters[string(status)] = store.EventFilter{Status: status}
	}
	for name, f := range filters {
		for _, p := range x.parts() {
			all = append(all, call{name: "events by " + name + ", " + p.name, do: func(ctx context.Context, _ store.Tx) error {
				_, err := x.Events(ctx, x.owner.ID, f, pageOf(p, x.event.ID))
				return err
			}})
		}
	}
	return all
}

// endpoints are the filters by endpoint, and none.
func (x *explained) endpoints() map[string]*gateway.EndpointID {
	return map[string]*gateway.EndpointID{"": nil, " to endpoint": &x.endpoint, " to idle endpoint": &x.idle}
}

func (x *explained) deliveryLists() (all []call) {
	filters := map[string]store.DeliveryFilter{
		"all": {}, "event": {Event: &x.event.ID}, "failed and unknown": {Outcome: gateway.OutcomeUnknown, Status: gateway.DeliveryFailed},
	}
	for _, status := range gateway.DeliveryStatuses {
		filters[string(status)] = store.DeliveryFilter{Status: status}
		filters["event and "+string(status)] = store.DeliveryFilter{Event: &x.event.ID, Status: status}
	}
	for _, outcome := range gateway.Outcomes {
		filters[string(outcome)] = store.DeliveryFilter{Outcome: outcome}
	}
	for name, f := range filters {
		for _, p := range x.parts() {
			for to, endpoint := range x.endpoints() {
				f.Endpoint = endpoint
				all = append(all, x.deliveryList(name+to, f, p))
			}
		}
	}
	return all
}

// sentLists are events by what became of their deliveries, and when they came in.
func (x *explained) sentLists() (all []call) {
	filters := map[string]store.DeliveryFilter{
		"endpoint": {Endpoint: &x.endpoint}, "idle endpoint": {Endpoint: &x.idle},
		"failed": {Status: gateway.DeliveryFailed}, "delivered": {Status: gateway.DeliveryDelivered}, "pending": {Status: gateway.DeliveryPending},
		"retrying": {Status: gateway.DeliveryPending, Troubled: true}, "sending again": {Status: gateway.DeliverySending, Troubled: true},
		"retrying to endpoint": {Status: gateway.DeliveryPending, Troubled: true, Endpoint: &x.endpoint},
		"failed to endpoint":   {Status: gateway.DeliveryFailed, Endpoint: &x.endpoint},
	}
	for name, f := range filters {
		for _, p := range x.parts() {
			all = append(all, only("events sent, "+name+", "+p.name, func(ctx context.Context) ([]gateway.Event, error) {
				return x.EventsSent(ctx, x.owner.ID, f, pageOf(p, x.event.ID))
			}))
		}
	}
	for name, f := range map[string]store.EventFilter{"all": {}, "type": {Type: x.event.Type}, "source": {Source: &x.event.SourceID}, "subject": {Subject: *x.event.Subject}} {
		all = append(all, only("event times by "+name, func(ctx context.Context) ([]time.Time, error) {
			return x.EventTimes(ctx, x.owner.ID, f, store.Page[gateway.EventID]{Since: x.now.Add(-30 * time.Hour), Limit: listed})
		}))
	}
	return append(all, done("arrived", func(ctx context.Context, _ store.Tx) error {
		return x.EachArrived(ctx, x.owner.ID, []gateway.EventID{x.event.ID}, func(gateway.EventID, []byte, []byte) {})
	}))
}

func (x *explained) deliveryList(name string, f store.DeliveryFilter, p part) call {
	return call{name: "deliveries by " + name + ", " + p.name, oneDay: f.Event != nil, do: func(ctx context.Context, _ store.Tx) error {
		_, err := x.Deliveries(ctx, x.owner.ID, f, pageOf(p, x.delivery.ID))
		return err
	}}
}

func (x *explained) attemptLists() (all []call) {
	filters := map[string]store.AttemptFilter{"all": {}, "delivery": {Delivery: &x.delivery.ID}}
	for _, outcome := range gateway.Outcomes {
		filters[string(outcome)] = store.AttemptFilter{Outcome: outcome}
	}
	filters["failed"] = store.AttemptFilter{Failed: true}
	for name, f := range filters {
		for _, p := range x.parts() {
			f.Since, f.Until = p.since, p.until
			for to, endpoint := range x.endpoints() {
				if f.Endpoint = endpoint; f.Failed && endpoint == nil {
					continue // is asked of one endpoint at a time
				}
				all = append(all, x.attemptList(name+to, f, p))
			}
		}
	}
	return all
}

func (x *explained) attemptList(name string, f store.AttemptFilter, p part) call {
	var before *store.AttemptCursor
	if p.cursor {
		before = &store.AttemptCursor{StartedAt: x.now.Add(-24 * time.Hour), Delivery: x.delivery.ID, N: 1}
	}
	return call{name: "attempts by " + name + ", " + p.name, oneDay: f.Delivery != nil, do: func(ctx context.Context, _ store.Tx) error {
		_, err := x.Attempts(ctx, x.owner.ID, f, before, listed)
		return err
	}}
}

// quietLists are those of an account that has nothing, among others that have.
func (x *explained) quietLists() []call {
	quiet := x.b.account
	return []call{
		only("quiet account's events", func(ctx context.Context) ([]gateway.Event, error) {
			return x.Events(ctx, quiet, store.EventFilter{}, store.Page[gateway.EventID]{Limit: listed})
		}),
		only("quiet account's processed events", func(ctx context.Context) ([]gateway.Event, error) {
			return x.Events(ctx, quiet, store.EventFilter{Status: gateway.EventProcessed}, store.Page[gateway.EventID]{Limit: listed})
		}),
		only("quiet account's deliveries", func(ctx context.Context) ([]gateway.Delivery, error) {
			return x.Deliveries(ctx, quiet, store.DeliveryFilter{}, store.Page[gateway.DeliveryID]{Limit: listed})
		}),
		only("quiet account's attempts", func(ctx context.Context) ([]gateway.Attempt, error) {
			return x.Attempts(ctx, quiet, store.AttemptFilter{}, nil, listed)
		}),
	}
}

func (x *explained) requestLists() (all []call) {
	for _, source := range []gateway.SourceID{x.source, x.quiet} {
		for _, cause := range []string{"", gateway.CauseDuplicate, "none"} {
			for _, p := range x.parts() {
				name := fmt.Sprintf("requests of %s by %s, %s", source, cause, p.name)
				page := pageOf(p, gateway.RequestID(x.event.ID))
				all = append(all, only(name, func(ctx context.Context) ([]gateway.Request, error) {
					return x.Requests(ctx, x.owner.ID, source, cause, page)
				}), only("lines of "+name, func(ctx context.Context) ([]gateway.Request, error) {
					return x.RequestLines(ctx, x.owner.ID, source, cause, page)
				}))
			}
		}
	}
	return all
}
