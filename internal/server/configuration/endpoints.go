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
	toPlanned, err := r.failover(ctx, w, &in)
	if err != nil {
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
	return r.changeEndpoint(ctx, w, present, in, toPlanned)
}

func (r *run) findEndpoint(ctx context.Context, name string) (gateway.Endpoint, bool, error) {
	return find(ctx, r.account, name, r.Store.EndpointByUID, r.Store.Endpoint)
}

// failover looks up who is failed over to. Planned tells that it is not there
// because this is a dry run.
func (r *run) failover(ctx context.Context, w *wish[ConfiguredEndpointBody], in *endpoint.Input) (planned bool, err error) {
	named := w.body.Failover
	if !named.Given {
		return false, nil
	}
	in.Failover = new(gateway.EndpointID)
	if named.Null {
		return false, nil
	}
	target, _, err := r.findEndpoint(ctx, named.Value)
	if errors.Is(err, gateway.ErrNotFound) {
		in.Failover = nil
		if r.planned[named.Value] {
			return true, nil
		}
		return false, gateway.Invalid("failover", "names no endpoint of this account or of the document that can be failed over to")
	}
	*in.Failover = target.ID
	return false, err
}

func (r *run) newEndpoint(ctx context.Context, w *wish[ConfiguredEndpointBody], in endpoint.Input) error {
	w.Outcome = Created
	if r.dry {
		err := r.Endpoints.Check(ctx, r.account, in)
		r.planned[w.Name] = err == nil
		return err
	}
	made, _, err := r.Endpoints.Create(ctx, r.account, r.actor, in)
	w.ID = idText(made.ID, err)
	return err
}

// changeEndpoint changes what differs. What is sealed cannot be compared, so it
// stays: otherwise each import would change it anew.
func (r *run) changeEndpoint(ctx context.Context, w *wish[ConfiguredEndpointBody], present gateway.Endpoint, in endpoint.Input, toPlanned bool) error {
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
	if toPlanned {
		changes = append(changes, "failover")
	}
	w.is(present.ID.String(), changes)
	if in.Signature != nil {
		w.Notes = append(w.Notes, "It signs another way: a new secret signs, and those before it go on beside it for "+gateway.DurationText(gateway.DefaultOverlap)+".")
	}
	if r.dry || w.Outcome == Unchanged {
		return nil
	}
	_, err = r.Endpoints.Update(ctx, r.account, r.actor, present.ID, in)
	return err
}

// idText is the id of what was made; nothing was where there is an error.
func idText(id fmt.Stringer, err error) string {
	if err != nil {
		return ""
	}
	return id.String()
}
