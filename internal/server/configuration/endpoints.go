package configuration

import (
	"context"
	"errors"
	"fmt"

	"github.com/rowlock/rowlock/internal/endpoint"
	"github.com/rowlock/rowlock/internal/gateway"
)

func (r *run) endpoints(ctx context.Context, doc received) ([]Result, error) {
	name := func(b ConfiguredEndpointBody) string { return b.UID.Value }
	all := wishes(r, KindEndpoint, "endpoints", doc.Endpoints, name)
	for _, i := range targetsFirst(all) {
		if w := &all[i]; w.Outcome == "" {
			if err := w.settle(r.endpoint(ctx, w)); err != nil {
				return nil, err
			}
		}
	}
	return results(all), nil
}

// targetsFirst is the order in which an endpoint comes after the one that it
// fails over to, so that this one is there. A chain of the account that is
// turned around is never a circle on the way. One that is a circle in the
// document is refused where it closes.
func targetsFirst(all []wish[ConfiguredEndpointBody]) []int {
	byName := map[string]int{}
	for i, w := range all {
		if w.Outcome == "" {
			byName[w.Name] = i
		}
	}
	order, done := make([]int, 0, len(all)), make([]bool, len(all))
	var visit func(int)
	visit = func(i int) {
		if done[i] {
			return
		}
		done[i] = true
		if target, ok := byName[all[i].body.Failover.Value]; ok {
			visit(target)
		}
		order = append(order, i)
	}
	for i := range all {
		visit(i)
	}
	return order
}

func (r *run) endpoint(ctx context.Context, w *wish[ConfiguredEndpointBody]) error {
	in, err := w.body.Input()
	if err != nil {
		return err
	}
	in.Kind, in.Secret = (*gateway.EndpointKind)(w.body.Kind), w.body.Secret
	if in.Failover, err = r.failover(ctx, w); err != nil {
		return err
	}
	present, own, err := r.findEndpoint(ctx, w.Name)
	switch {
	case errors.Is(err, gateway.ErrNotFound):
		return r.newEndpoint(ctx, w, in)
	case err != nil:
		return err
	}
	if own {
		in.UID = nil
	}
	return r.changeEndpoint(ctx, w, present, in)
}

func (r *run) findEndpoint(ctx context.Context, name string) (gateway.Endpoint, bool, error) {
	return find(ctx, r.account, name, r.Store.EndpointByUID, r.Store.Endpoint)
}

// failover looks up who is failed over to; in a dry run it may be one that would
// be there by then. Nil is that nothing is said of it, zero that it is nobody.
func (r *run) failover(ctx context.Context, w *wish[ConfiguredEndpointBody]) (*gateway.EndpointID, error) {
	named := w.body.Failover
	if !named.Given {
		return nil, nil
	}
	if named.Null {
		return new(gateway.EndpointID), nil
	}
	target, _, err := r.findEndpoint(ctx, named.Value)
	if !errors.Is(err, gateway.ErrNotFound) {
		return &target.ID, err
	}
	if r.dry {
		if id, ok := r.plan.made[named.Value]; ok {
			return &id, nil
		}
	}
	return nil, gateway.Invalid("failover", "names no endpoint of this account or of the document that can be failed over to")
}

func (r *run) newEndpoint(ctx context.Context, w *wish[ConfiguredEndpointBody], in endpoint.Input) error {
	w.Outcome = Created
	if r.dry {
		if err := r.Endpoints.Check(ctx, r.account, in); err != nil {
			return err
		}
		return r.plan.add(w.Name, in, r.Endpoints.Most())
	}
	in.Paused = turns(w.body.Paused, false) // from the first moment on: what is going on is not sent to it
	made, _, err := r.Endpoints.Create(ctx, r.account, r.actor, in)
	w.ID = idText(made.ID, err)
	return err
}

// turnEndpoint pauses or resumes an endpoint that is to be otherwise.
func (r *run) turnEndpoint(ctx context.Context, w *wish[ConfiguredEndpointBody], present gateway.Endpoint) (err error) {
	switch {
	case !turns(w.body.Paused, present.State == gateway.EndpointPaused):
	case *w.body.Paused:
		_, err = r.Endpoints.Pause(ctx, r.account, r.actor, present.ID)
	default:
		_, err = r.Endpoints.Resume(ctx, r.account, r.actor, present.ID)
	}
	return err
}

// changeEndpoint changes what differs. What is sealed cannot be compared, so it
// stays: otherwise each import would change it anew.
func (r *run) changeEndpoint(ctx context.Context, w *wish[ConfiguredEndpointBody], present gateway.Endpoint, in endpoint.Input) error {
	if in.Auth != nil {
		in.Auth = nil
		w.Notes = append(w.Notes, "What is sent in its Authorization header stays as it is: it is changed at the endpoint.")
	}
	if in.Secret != nil {
		in.Secret = nil
		w.Notes = append(w.Notes, "Its signing secrets stay as they are: they are changed by rotating them.")
	}
	if in.Kind != nil && *in.Kind == present.Kind {
		in.Kind = nil
	}
	in, changes, err := r.Endpoints.Changes(ctx, present, in)
	if err != nil {
		return err
	}
	fields := len(changes)
	if turns(w.body.Paused, present.State == gateway.EndpointPaused) {
		changes = append(changes, "paused")
	}
	w.is(present.ID.String(), changes)
	if in.Signature != nil {
		w.Notes = append(w.Notes, "It signs another way: a new secret signs, and those before it go on beside it for "+gateway.DurationText(gateway.DefaultOverlap)+".")
	}
	if r.dry {
		return r.planChange(ctx, present, in)
	}
	if fields > 0 {
		if _, err := r.Endpoints.Update(ctx, r.account, r.actor, present.ID, in); err != nil {
			return err
		}
	}
	return r.turnEndpoint(ctx, w, present)
}

// planChange refuses what the statements of a change would.
func (r *run) planChange(ctx context.Context, present gateway.Endpoint, in endpoint.Input) error {
	if err := r.plan.join(present.ID, in.Failover); err != nil {
		return err
	}
	if in.Signature != nil {
		live, err := r.Store.EndpointSecretTimes(ctx, r.account, present.ID)
		if err != nil {
			return err
		}
		if len(live) >= gateway.MaxLiveSecrets {
			return gateway.ErrTooManySecrets
		}
	}
	if in.Failover != nil {
		present.Failover = in.Failover
	}
	if in.Description != nil {
		present.Description = *in.Description
	}
	r.plan.put(present)
	return nil
}

// idText is the id of what was made; nothing was where there is an error.
func idText(id fmt.Stringer, err error) string {
	if err != nil {
		return ""
	}
	return id.String()
}
