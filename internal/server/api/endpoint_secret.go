package api

import (
	"context"
	"time"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/server/resource"
)

// secretView is a signing secret, revealed.
type secretView struct {
	ID        gateway.SecretID `json:"id" example:"sec_06h1m3v9c8x7k2q5n4t6w8y0za"`
	Secret    string           `json:"secret,omitempty" doc:"What both sides have; left out for an Ed25519 key, whose private half nobody is shown." example:"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"`
	PublicKey string           `json:"public_key,omitempty" doc:"Of an Ed25519 key: what verifies its signatures." example:"whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4="`
	CreatedAt timestamp        `json:"created_at"`
	EndsAt    *timestamp       `json:"ends_at,omitempty" doc:"When it stops signing; left out: it has no end."`
}

func viewSecret(s gateway.Secret) secretView {
	return secretView{ID: s.ID, Secret: s.Value, PublicKey: s.Public, CreatedAt: timestamp(s.CreatedAt), EndsAt: optionalTime(s.EndsAt)}
}

// overlapSpan bounds how long a secret outlives the next one.
var overlapSpan = resource.Span{Least: 0, Most: gateway.MaxOverlap}

// rotateEndpointBody says how to change an endpoint's secret.
type rotateEndpointBody struct {
	Overlap *string `json:"overlap,omitempty" nullable:"true" example:"24h" doc:"How long the present secrets go on signing, from 0s to 720h. Left out: 24h."`
	Secret  *string `json:"secret,omitempty" nullable:"true" doc:"The new secret, which signs as the endpoint does: whsec_ and the base64 of 24 to 64 bytes, or for v1a whsk_ and the base64 of an Ed25519 seed, with or without the public key behind it. Left out: one is made."`
}

// extendSpan bounds how much longer a secret signs than until now.
var extendSpan = resource.Span{Least: time.Millisecond, Most: gateway.MaxOverlap}

// extendSecretBody says for how long a secret goes on signing.
type extendSecretBody struct {
	Overlap string `json:"overlap" example:"24h" doc:"How long it goes on signing, from now, up to 720h."`
}

// secretTimesView is a secret without its value.
type secretTimesView struct {
	ID        gateway.SecretID `json:"id" example:"sec_06h1m3v9c8x7k2q5n4t6w8y0za"`
	CreatedAt timestamp        `json:"created_at"`
	EndsAt    *timestamp       `json:"ends_at,omitempty" doc:"When it stops signing; left out: it has no end."`
}

func viewSecretTimes(s gateway.Secret) secretTimesView {
	return secretTimesView{ID: s.ID, CreatedAt: timestamp(s.CreatedAt), EndsAt: optionalTime(s.EndsAt)}
}

// secretPath is the path of an operation on one secret of an endpoint.
type secretPath struct {
	ID  string `path:"id" doc:"The endpoint's id or uid."`
	SID string `path:"sid" doc:"The secret's id."`
}

func (a *API) listEndpointSecrets(ctx context.Context, who caller, in *endpointPath) (*listReply[secretView], error) {
	id, err := a.endpointID(ctx, who, in.ID)
	if err != nil {
		return nil, err
	}
	secrets, err := a.Endpoints.Secrets(ctx, who.account(), who.actor(), id)
	if err != nil {
		return nil, err
	}
	return whole(secrets, viewSecret), nil
}

func (a *API) rotateEndpointSecret(ctx context.Context, who caller, in *endpointPath, body rotateEndpointBody) (*objectReply[secretView], error) {
	id, err := a.endpointID(ctx, who, in.ID)
	if err != nil {
		return nil, err
	}
	overlap, err := overlapSpan.ReadOptional(body.Overlap, "body.overlap")
	if err != nil {
		return nil, err
	}
	secret, err := a.Endpoints.Rotate(ctx, who.account(), who.actor(), id, overlap, body.Secret)
	return object(secret, err, viewSecret)
}

func (a *API) endEndpointSecret(ctx context.Context, who caller, in *secretPath, _ nothingBody) (*objectReply[EndpointView], error) {
	return a.onEndpoint(ctx, who, &endpointPath{in.ID}, func(id gateway.EndpointID) (gateway.Endpoint, error) {
		secret, err := pathID[gateway.SecretID](in.SID)
		if err != nil {
			return gateway.Endpoint{}, err
		}
		if err := a.Endpoints.EndSecret(ctx, who.account(), who.actor(), id, secret); err != nil {
			return gateway.Endpoint{}, err
		}
		return a.Store.Endpoint(ctx, who.account(), id)
	})
}

func (a *API) extendEndpointSecret(ctx context.Context, who caller, in *secretPath, body extendSecretBody) (*objectReply[secretTimesView], error) {
	id, err := a.endpointID(ctx, who, in.ID)
	if err != nil {
		return nil, err
	}
	secret, err := pathID[gateway.SecretID](in.SID)
	if err != nil {
		return nil, err
	}
	overlap, err := extendSpan.Read(body.Overlap, "body.overlap")
	if err != nil {
		return nil, err
	}
	extended, err := a.Endpoints.ExtendSecret(ctx, who.account(), who.actor(), id, secret, overlap)
	return object(extended, err, viewSecretTimes)
}
