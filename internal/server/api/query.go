package api

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/server/problem"
)

// wholeQuery tells whether a query can be read to its end and names nothing
// twice.
func wholeQuery(raw string) error {
	if raw == "" {
		return nil
	}
	values, err := url.ParseQuery(raw)
	if err != nil {
		return problem.At("query", "is not encoded as a query should be")
	}
	for name, given := range values {
		if len(given) > 1 {
			return problem.At(plainLocation("query."+name), "comes more than once")
		}
	}
	return nil
}

// cleanText refuses a filter that no stored text can have.
func cleanText(text, name string) error {
	if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		return problem.At("query."+name, "want UTF-8 without NUL characters")
	}
	return nil
}

// filterID reads an id that narrows a list; empty is none.
func filterID[I gateway.AnyID](text, name string) (*I, error) {
	if text == "" {
		return nil, nil //nolint:nilnil // no filter is no fault
	}
	id, err := gateway.ParseID[I](text)
	if err != nil {
		return nil, problem.At("query."+name, "want an id that begins with %s_", id.Prefix())
	}
	return &id, nil
}

// endpointFilter is filterID that knows uids too.
func (a *API) endpointFilter(ctx context.Context, who caller, text string) (*gateway.EndpointID, error) {
	if text == "" {
		return nil, nil //nolint:nilnil // no filter is no fault
	}
	id, err := a.endpointID(ctx, who, text)
	if errors.Is(err, gateway.ErrNotFound) {
		return nil, problem.At("query.endpoint", "want an endpoint's id or uid")
	}
	return &id, err
}

// sourceFilter is filterID that knows uids too.
func (a *API) sourceFilter(ctx context.Context, who caller, text string) (*gateway.SourceID, error) {
	if text == "" {
		return nil, nil //nolint:nilnil // no filter is no fault
	}
	id, err := a.sourceID(ctx, who, text)
	if errors.Is(err, gateway.ErrNotFound) {
		return nil, problem.At("query.source", "want a source's id or uid")
	}
	return &id, err
}

// endpointID reads a path's endpoint, by id or uid.
func (a *API) endpointID(ctx context.Context, who caller, text string) (gateway.EndpointID, error) {
	id, err := gateway.ParseID[gateway.EndpointID](text)
	if err == nil || gateway.CheckUID(text) != nil {
		return id, notAnID(err)
	}
	e, err := a.Store.EndpointByUID(ctx, who.account(), text)
	return e.ID, err
}

// sourceID reads a path's source, by id or uid.
func (a *API) sourceID(ctx context.Context, who caller, text string) (gateway.SourceID, error) {
	id, err := gateway.ParseID[gateway.SourceID](text)
	if err == nil || gateway.CheckUID(text) != nil {
		return id, notAnID(err)
	}
	s, err := a.Store.SourceByUID(ctx, who.account(), text)
	return s.ID, err
}

// pathID reads a path's id. One of the wrong form names nothing.
func pathID[I gateway.AnyID](text string) (I, error) {
	id, err := gateway.ParseID[I](text)
	return id, notAnID(err)
}

func notAnID(err error) error {
	if err != nil {
		return gateway.ErrNotFound
	}
	return nil
}
