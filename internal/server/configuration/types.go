package configuration

import (
	"context"
	"errors"

	"github.com/rowlock/rowlock/internal/gateway"
)

func (r *run) types(ctx context.Context, doc received) ([]Result, error) {
	name := func(b ConfiguredTypeBody) string {
		if b.Name == nil {
			return ""
		}
		return *b.Name
	}
	return each(wishes(r, KindEventType, "event_types", doc.EventTypes, name), func(w *wish[ConfiguredTypeBody]) error {
		return r.eventType(ctx, w)
	})
}

func (r *run) eventType(ctx context.Context, w *wish[ConfiguredTypeBody]) error {
	in := w.body.Input(w.body.Name)
	present, err := r.Store.EventType(ctx, r.account, w.Name)
	if errors.Is(err, gateway.ErrNotFound) {
		w.Outcome = Created
		if r.dry {
			if err := r.EventTypes.Check(in); err != nil {
				return err
			}
			return r.plan.declare()
		}
		_, err = r.EventTypes.Create(ctx, r.account, r.actor, in)
		return err
	}
	if err != nil {
		return err
	}
	in, changes, err := r.EventTypes.Changes(present, in)
	if err != nil {
		return err
	}
	w.is("", changes)
	if r.dry || w.Outcome == Unchanged {
		return nil
	}
	_, err = r.EventTypes.Update(ctx, r.account, r.actor, w.Name, in)
	return err
}
