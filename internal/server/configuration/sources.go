package configuration

import (
	"context"
	"errors"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/server/problem"
	"github.com/rowlock/rowlock/internal/signature"
	"github.com/rowlock/rowlock/internal/source"
)

// sourceWish is a source of a document, with its rule.
type sourceWish struct {
	*wish[ConfiguredSourceBody]

	in source.Input
	// ruled tells that the document says what the rule is: rule, or none.
	ruled bool
	rule  *gateway.Rule
}

func (r *run) sources(ctx context.Context, doc received) ([]Result, error) {
	name := func(b ConfiguredSourceBody) string { return b.UID.Value }
	return each(wishes(r, KindSource, "sources", doc.Sources, name), func(w *wish[ConfiguredSourceBody]) error {
		read, err := readSource(w)
		if err != nil {
			return err
		}
		return r.source(ctx, read)
	})
}

func readSource(w *wish[ConfiguredSourceBody]) (sourceWish, error) {
	s := sourceWish{wish: w, in: w.body.Input(), ruled: w.body.Rule.Given}
	s.in.Kind, s.in.Secret = w.body.Kind, w.body.Secret
	if !s.ruled || w.body.Rule.Null {
		return s, nil
	}
	rule, err := source.CheckRule(w.body.Rule.Value.Rule())
	s.rule = &rule
	return s, problem.Locate(err, func(field string) string { return w.place + ".rule." + field })
}

func (r *run) source(ctx context.Context, w sourceWish) error {
	present, own, err := find(ctx, r.account, w.Name, r.Store.SourceByUID, r.Store.Source)
	switch {
	case errors.Is(err, gateway.ErrNotFound):
		return r.newSource(ctx, w)
	case err != nil:
		return err
	}
	if own {
		w.in.UID = nil
	}
	if w.in.Secret != nil {
		w.in.Secret = nil
		w.Notes = append(w.Notes, "Its secrets stay as they are: they are changed by rotating them.")
	}
	return r.changeSource(ctx, w, present)
}

// newSource makes a source. One that needs a secret comes in without it where
// providers of its kind show it only once they know where to send to.
func (r *run) newSource(ctx context.Context, w sourceWish) error {
	w.Outcome, w.in.Later = Created, true
	w.noteSecret()
	if r.dry {
		return r.Sources.Check(w.in)
	}
	made, err := r.Sources.Create(ctx, r.account, r.actor, w.in)
	w.ID = idText(made.ID, err)
	if err == nil && w.rule != nil {
		_, err = r.Sources.SetRule(ctx, r.account, r.actor, made.ID, *w.rule)
	}
	if err != nil {
		return err
	}
	return r.turnSource(ctx, w, made)
}

// turnSource pauses or resumes a source that is to be otherwise.
func (r *run) turnSource(ctx context.Context, w sourceWish, present gateway.Source) (err error) {
	switch {
	case !turns(w.body.Paused, present.State == gateway.SourcePaused):
	case *w.body.Paused:
		_, err = r.Sources.Pause(ctx, r.account, r.actor, present.ID)
	default:
		_, err = r.Sources.Resume(ctx, r.account, r.actor, present.ID)
	}
	return err
}

// noteSecret says what a new source lacks before it takes anything.
func (w sourceWish) noteSecret() {
	if w.in.Kind == nil || w.in.Secret != nil {
		return
	}
	scheme, ok := signature.Lookup(*w.in.Kind)
	switch {
	case !ok:
	case scheme.Info().Secret.Captured:
		w.Notes = append(w.Notes, "It has no secret yet: it takes the one that its provider sends in the handshake.")
	case scheme.Info().NeedsSecret():
		w.Notes = append(w.Notes, "It has no secret yet, and refuses everything until the provider's signing secret is pasted on its page.")
	}
}

func (r *run) changeSource(ctx context.Context, w sourceWish, present gateway.Source) error {
	in, changes, err := r.Sources.Changes(present, w.in)
	if err != nil {
		return err
	}
	otherRule := w.ruled && !source.SameRule(present.Rule, w.rule)
	fields := len(changes)
	if otherRule {
		changes = append(changes, "rule")
	}
	if turns(w.body.Paused, present.State == gateway.SourcePaused) {
		changes = append(changes, "paused")
	}
	w.is(present.ID.String(), changes)
	if r.dry {
		return nil
	}
	if fields > 0 {
		if _, err := r.Sources.Update(ctx, r.account, r.actor, present.ID, in); err != nil {
			return err
		}
	}
	switch {
	case !otherRule:
	case w.rule == nil:
		_, err = r.Sources.ClearRule(ctx, r.account, r.actor, present.ID)
	default:
		_, err = r.Sources.SetRule(ctx, r.account, r.actor, present.ID, *w.rule)
	}
	if err != nil {
		return err
	}
	return r.turnSource(ctx, w, present)
}
