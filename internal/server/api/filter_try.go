package api

import (
	"context"
	"errors"

	"github.com/rowlock/rowlock/internal/decide"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/server/problem"
	"github.com/rowlock/rowlock/internal/server/resource"
)

// tryFilterBody is a filter to try.
type tryFilterBody struct {
	Filter     *string  `json:"filter" nullable:"false" maxLength:"4096" example:"body.amount > 100" doc:"The CEL expression, as an endpoint has it."`
	Event      *string  `json:"event,omitempty" nullable:"true" example:"evt_06h1m3v9c8x7k2q5n4t6w8y0za" doc:"The event to try it on. Left out: the newest ones."`
	EventTypes []string `json:"event_types,omitempty" nullable:"true" maxItems:"500" example:"[\"order.*\"]" doc:"Only events of these types, as an endpoint asks for them. Left out: everything but rowlock.*."`
	Limit      *int     `json:"limit,omitempty" nullable:"true" minimum:"1" maximum:"20" doc:"How many events at the most. Left out: 20."`
}

// triedView is what a filter says of an event.
type triedView struct {
	EventID   gateway.EventID `json:"event_id" example:"evt_06h1m3v9c8x7k2q5n4t6w8y0za"`
	Type      string          `json:"type" example:"order.created"`
	CreatedAt timestamp       `json:"created_at" doc:"When the event was accepted."`
	Matches   bool            `json:"matches" doc:"Whether the filter lets it through."`
	Error     string          `json:"error,omitempty" doc:"Why the filter has no answer for it, which counts as no." example:"no such key: amount"`
}

func viewTried(v decide.Verdict) triedView {
	return triedView{EventID: v.Event.ID, Type: v.Event.Type, CreatedAt: timestamp(v.Event.ID.Time()), Matches: v.Matches, Error: printable(v.Reason)}
}

func (a *API) addFilterRoutes() {
	registerJSON(a, route{
		method: post, path: "/filters/try", needs: read, status: 200, required: []string{"filter"},
		id: "tryFilter", tag: tagEndpoints, summary: "Try a filter on real events",
		about: "Tells of the newest events, or of one, whether a filter would let it through, and changes nothing. Looks among the newest 500, and leaves out those whose payload was deleted.",
	}, a.tryFilter)
}

func (a *API) tryFilter(ctx context.Context, who caller, _ *nothing, body tryFilterBody) (*listReply[triedView], error) {
	trial, err := body.trial()
	if err != nil {
		return nil, err
	}
	verdicts, err := a.Decide.TryFilter(ctx, who.account(), trial)
	for known, said := range map[error]string{
		gateway.ErrNotFound:    "names no event of this account",
		gateway.ErrExpired:     "is an event that is no longer kept",
		gateway.ErrPayloadGone: "is an event whose payload was deleted",
	} {
		if errors.Is(err, known) {
			return nil, gateway.Invalid("event", "%s", said)
		}
	}
	if err != nil {
		return nil, err
	}
	return whole(verdicts, viewTried), nil
}

// trial is what the use case takes.
func (b tryFilterBody) trial() (t decide.Trial, err error) {
	if b.Filter == nil {
		return t, problem.At("body.filter", "is missing")
	}
	if err := resource.CheckTypes(b.EventTypes); err != nil {
		return t, err
	}
	t = decide.Trial{Filter: *b.Filter, Types: b.EventTypes}
	if b.Limit != nil {
		if t.Limit = *b.Limit; t.Limit < 1 || t.Limit > decide.MaxTried {
			return t, problem.At("body.limit", "want 1 to %d", decide.MaxTried)
		}
	}
	if b.Event != nil {
		id, err := gateway.ParseID[gateway.EventID](*b.Event)
		if err != nil {
			return t, problem.At("body.event", "want an id that begins with %s_", id.Prefix())
		}
		t.Event = &id
	}
	return t, nil
}
