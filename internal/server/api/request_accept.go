package api

import (
	"context"
	"errors"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/server/problem"
	"github.com/rowlock/rowlock/internal/signature"
)

// requestPath is the path of one request of a source.
type requestPath struct {
	ID      string `path:"id" doc:"The source's id or uid."`
	Request string `path:"request" doc:"The request's id."`
}

func (a *API) getRequest(ctx context.Context, who caller, in *requestPath) (*objectReply[requestView], error) {
	source, id, err := a.requestOf(ctx, who, in)
	if err != nil {
		return nil, err
	}
	r, err := a.Store.Request(ctx, who.account(), source, id)
	return object(r, err, viewRequest)
}

func (a *API) requestOf(ctx context.Context, who caller, in *requestPath) (source gateway.SourceID, id gateway.RequestID, err error) {
	if source, err = a.sourceID(ctx, who, in.ID); err != nil {
		return source, id, err
	}
	id, err = gateway.ParseID[gateway.RequestID](in.Request)
	return source, id, err
}

// acceptRequestBody says why a request is taken that is not proven.
type acceptRequestBody struct {
	Override *string `json:"override,omitempty" nullable:"true" maxLength:"500" example:"The provider has confirmed it by mail." doc:"Why the request is to be taken although the source's present secrets do not prove it, or although it may be a replay. Left out: only a request that is in no doubt is taken."`
}

func (a *API) acceptRequest(ctx context.Context, who caller, in *requestPath, body acceptRequestBody) (*objectReply[requestView], error) {
	source, id, err := a.requestOf(ctx, who, in)
	if err != nil {
		return nil, err
	}
	override := ""
	if body.Override != nil {
		override = *body.Override
	}
	_, err = a.Accept.AcceptLate(ctx, who.account(), who.actor(), source, id, override)
	if refusal, ok := errors.AsType[*signature.Refusal](err); ok {
		return nil, problem.New(problem.NotProven, refusal.Detail)
	}
	if err != nil {
		return nil, err
	}
	r, err := a.Store.Request(ctx, who.account(), source, id)
	return object(r, err, viewRequest)
}
