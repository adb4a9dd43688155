package api

import (
	"github.com/rowlock/rowlock/internal/endpoint"
	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/server/resource"
)

// newEndpointBody describes an endpoint to make.
type newEndpointBody struct {
	resource.EndpointBody

	Kind   *string `json:"kind,omitempty" nullable:"true" enum:"http,listen" example:"http" doc:"How it gets its deliveries: http is sent to at its url; listen has none, and a program asks for them, such as rowlock listen. Left out: http."`
	Secret *string `json:"secret,omitempty" nullable:"true" doc:"A signing secret of your own: whsec_ and the base64 of 24 to 64 bytes; for v1a, whsk_ and the base64 of an Ed25519 seed, with or without the public key behind it. Left out: one is made."`
}

// changeEndpointBody describes a change of an endpoint.
type changeEndpointBody struct {
	resource.EndpointBody

	// Secret is refused, with how it is changed. The document leaves it out.
	Secret *string `json:"secret,omitempty"`
}

// input is what the use case takes.
func (b newEndpointBody) input() (endpoint.Input, error) {
	in, err := b.Input()
	in.Secret = b.Secret
	in.Kind = (*gateway.EndpointKind)(b.Kind)
	return in, err
}

// input is what the use case takes.
func (b changeEndpointBody) input() (endpoint.Input, error) {
	in, err := b.Input()
	in.Secret = b.Secret
	return in, err
}
